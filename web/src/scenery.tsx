// What lies behind the processes: links, rows and columns, lines of a plane, which
// processes one asks and which have answered, and the arrows of those that point at
// another.

import { useMemo, useRef } from "preact/hooks";
import { type Places, type Stage, awaited, between, cellOf, field, named, setOf } from "./stage";

const fewEnough = 10; // maximum number of processes of a mesh whose links are drawn

/** Ground draws the links, and what the minded process asks for. */
export function Ground({ stage, mind }: { stage: Stage; mind: number }) {
	const { d, spots, radius } = stage;
	const { shape } = d.scene;
	const links = useMemo(() => <Links d={d} spots={spots} radius={radius} />, [d, spots, radius]);
	return (
		<g class="ground">
			{shape === "grid" && <Cells stage={stage} mind={mind} />}
			{shape === "plane" && <Lines stage={stage} mind={mind} />}
			{links}
			{shape !== "grid" && mind >= 0 && <Answers stage={stage} mind={mind} />}
		</g>
	);
}

function Links({ d, spots, radius }: Pick<Places, "d" | "spots" | "radius">) {
	const { shape } = d.scene;
	const links = shape === "mesh" && d.scene.links.length === 0 && spots.length <= fewEnough && !d.scene.pointer ? mesh(spots.length) : d.scene.links;
	const directed = shape === "ring" || shape === "flags";
	return (
		<>
			{links.map(({ from, to }) => {
				const [a, b] = [spots[from], spots[to]];
				return a && b && <line key={`${from} ${to}`} class={directed ? "link directed" : "link"} {...between(a, b, radius + 2, radius + (directed ? 5 : 2))} />;
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

/**
 * Answers are dashed lines to those from which the minded process still needs something,
 * and solid ones to those it has.
 */
function Answers({ stage, mind }: { stage: Stage; mind: number }) {
	const { spots, radius, frame } = stage;
	const me = spots[mind];
	if (!me || frame.status[mind] !== "waiting" || spots.length > 40) return null;
	const has = asked(stage, mind).answered;
	return (
		<g class="answers">
			{awaited(stage, mind).map((i) => spots[i] && i !== mind && <line key={i} class="needs" {...between(me, spots[i], radius + 6, radius + 2)} />)}
			{[...has].map((i) => spots[i] && i !== mind && <line key={`g${i}`} class="has" {...between(me, spots[i], radius + 6, radius + 2)} />)}
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
	return useMemo(() => (
		<g class={shown ? name : `${name} gone`} style={{ transform: `translate(${from.x}px, ${from.y}px) rotate(${angle.current}deg)` }}>
			<line x1={radius + 3} x2={Math.max(radius + 4, long - radius - 4)} y1={side} y2={side} marker-end="url(#tip)" />
			<title>{shown ? `${d.names[lane]} points at ${d.names[to]}` : ""}</title>
		</g>
	), [d, spots, radius, lane, to, shown, name]);
}
