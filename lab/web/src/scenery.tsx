// What lies behind the processes: links, rows and columns, lines of a plane, which
// processes one asks and which have answered, and the arrows of those that point at
// another.

import { useMemo, useRef } from "preact/hooks";
import { bendOf, pathBetween } from "./routes";
import { type Places, type Stage, cellOf, field, named, needsOf, setOf } from "./stage";

const fewEnough = 10; // maximum number of processes of a mesh whose links are drawn

/** Ground draws the links, and what the minded process asks for. */
export function Ground({ stage, mind }: { stage: Stage; mind: number }) {
	const { d, spots, radius, width, height } = stage;
	const { shape } = d.scene;
	const links = useMemo(() => <Links places={stage} />, [d, spots, radius, width, height]);
	return (
		<g class="ground">
			{shape === "grid" && <Cells stage={stage} mind={mind} />}
			{shape === "plane" && <Lines stage={stage} mind={mind} />}
			{links}
			{shape !== "grid" && <Answers stage={stage} mind={mind} />}
		</g>
	);
}

function Links({ places }: { places: Places }) {
	const { d, spots, radius } = places;
	const { shape } = d.scene;
	const links = shape === "mesh" && d.scene.links.length === 0 && spots.length <= fewEnough && !d.scene.pointer ? mesh(spots.length) : d.scene.links;
	const directed = shape === "ring" || shape === "flags";
	return (
		<>
			{links.map(({ from, to }) => {
				return spots[from] && spots[to] && <path key={`${from} ${to}`} class={directed ? "link directed" : "link"} d={pathBetween(places, from, to, radius + 2, radius + (directed ? 5 : 2))} />;
			})}
		</>
	);
}

function mesh(n: number): { from: number; to: number }[] {
	const all = [];
	for (let from = 0; from < n; from++) for (let to = from + 1; to < n; to++) all.push({ from, to });
	return all;
}

/** asked returns the processes that the minded one asks, and answered those that have said yes. */
function asked(stage: Stage, mind: number): { asked: number[]; answered: Set<number> } {
	const { d, frame } = stage;
	const set = setOf(stage, mind);
	const got = new Set(named(field(frame, mind, d.scene.got)));
	if (d.scene.votes) for (const member of set) if (named(field(frame, member, d.scene.votes))[0] === mind) got.add(member);
	return { asked: set, answered: got };
}

/** Cells are a grid, with the set of the minded process marked and the votes it has. */
function Cells({ stage, mind }: { stage: Stage; mind: number }) {
	const { d, spots, frame } = stage;
	const busy = mind >= 0 && frame.status[mind] !== "idle";
	const set = asked(stage, mind);
	const { half, lift } = cellOf(stage);
	return (
		<g class="cells">
			{spots.map(({ x, y }, i) => {
				const s = { x, y: y + lift };
				const mine = set.asked.includes(i);
				return (
					<g key={i}>
						<rect class={i === mind ? "cell own" : mine ? "cell asked" : "cell"} x={s.x - half} y={s.y - half} width={2 * half} height={2 * half} rx={half / 4} />
						{busy && mine && set.answered.has(i) && <path class="tick" d={`M${s.x + half - 11} ${s.y - half + 6}l3 3l5-6`}><title>{`${d.names[i]} has voted for ${d.names[mind]}`}</title></path>}
					</g>
				);
			})}
		</g>
	);
}

/** Lines are the lines of a plane: each through the processes that one asks. */
function Lines({ stage, mind }: { stage: Stage; mind: number }) {
	const { d, spots } = stage;
	const path = (members: number[]) => {
		const all = members.map((m) => spots[m]).filter((s) => s !== undefined);
		const mid = { x: all.reduce((n, s) => n + s.x, 0) / all.length, y: all.reduce((n, s) => n + s.y, 0) / all.length };
		all.sort((a, b) => Math.atan2(a.y - mid.y, a.x - mid.x) - Math.atan2(b.y - mid.y, b.x - mid.x));
		return all.length > 0 ? `M${all.map((s) => `${s.x} ${s.y}`).join("L")}z` : "";
	};
	const few = d.scene.groups.length <= 31;
	return (
		<g class="lines">
			{few && d.scene.groups.map((g, i) => i !== mind && <path key={i} class="faint" d={path(g.members)} />)}
			<path class="own" d={path(setOf(stage, mind))} />
		</g>
	);
}

const mostAnswers = 12; // with more processes than that, only the minded one's are drawn

/**
 * Answers are dotted lines from each waiting process to those from which it still needs
 * something, and solid ones from the minded process to those whose answers it has.
 */
function Answers({ stage, mind }: { stage: Stage; mind: number }) {
	const { d, spots, radius, frame } = stage;
	if (d.scene.shape === "sites" || spots.length > 40) return null;
	const needs = (from: number, to: number) => frame.status[from] === "waiting" && needsOf(stage, from).includes(to);
	const waiters = frame.status.flatMap((is, i) => (is === "waiting" && (i === mind || spots.length <= mostAnswers) ? [i] : []));
	const has = mind >= 0 && frame.status[mind] === "waiting" ? [...asked(stage, mind).answered].filter((i) => i !== mind && spots[i]) : [];
	return (
		<g class="answers">
			{waiters.flatMap((from) => needsOf(stage, from).filter((to) => to !== from && spots[to]).map((to) => (
				<path key={`${from} ${to}`} class={from === mind ? "needs minded" : "needs"} d={pathBetween(stage, from, to, radius + 6, radius + 6, needs(to, from))} marker-end="url(#need)">
					<title>{`${d.names[from]} needs something from ${d.names[to]}`}</title>
				</path>
			)))}
			{has.map((i) => <path key={`g${i}`} class="has" d={pathBetween(stage, mind, i, radius + 6, radius + 2)} />)}
		</g>
	);
}

/** Pointers are the arrows: they turn when a process points at another one. */
export function Pointers({ stage }: { stage: Stage }) {
	const { d, frame, spots } = stage;
	const { pointer, next, shape } = d.scene;
	return (
		<g class="pointers">
			{pointer && spots.map((_, i) => <Pointer key={i} stage={stage} lane={i} to={named(field(frame, i, pointer))[0] ?? -1} name={shape === "tree" ? "pointer" : "pointer thin"} />)}
			{next && spots.map((_, i) => <Pointer key={i} stage={stage} lane={i} to={named(field(frame, i, next))[0] ?? -1} name="pointer next" />)}
		</g>
	);
}

function Pointer({ stage, lane, to, name }: { stage: Stage; lane: number; to: number; name: string }) {
	const angle = useRef(0);
	const { spots, radius, d } = stage;
	const from = spots[lane];
	const target = spots[to];
	if (!from) return null;
	const shown = target !== undefined && to !== lane && stage.frame.status[lane] !== "crashed";
	if (shown) {
		// The shorter way around.
		const wanted = (Math.atan2(target.y - from.y, target.x - from.x) * 180) / Math.PI;
		angle.current += ((((wanted - angle.current) % 360) + 540) % 360) - 180;
	}
	const long = shown ? Math.hypot(target.x - from.x, target.y - from.y) : 2 * radius + 20;
	const side = name === "pointer" ? 0 : name === "pointer next" ? 6 : -4; // so that the two arrows of a pair do not overlap
	const bend = shown ? bendOf(stage, lane, to) * long : 0;
	const end = Math.max(radius + 4, long - radius - 4);
	return useMemo(() => (
		<g class={shown ? name : `${name} gone`} style={{ transform: `translate(${from.x}px, ${from.y}px) rotate(${angle.current}deg)` }}>
			<path d={bend === 0 ? `M${radius + 3} ${side}H${end}` : `M${radius + 3} ${side}Q${long / 2} ${side + bend} ${end} ${side}`} marker-end="url(#tip)" />
			<title>{shown ? `${d.names[lane]} points at ${d.names[to]}` : ""}</title>
		</g>
	), [d, spots, radius, lane, to, shown, name]);
}
