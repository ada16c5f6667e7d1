// The group in the algorithm's own picture. What shape that is, and which fields of
// the states are arrows, queues or tokens, the lab says.

import { computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Controls } from "./controls";
import { sitesOf } from "./deeds";
import type { Doc } from "./document";
import { Flights } from "./flights";
import { useSize } from "./look";
import { openAt, openMenu } from "./menu";
import { Ground, Pointers } from "./scenery";
import { Resources } from "./resources";
import { Sites, Waits } from "./sites";
import { type Spot, type Stage, field, hasToken, least, named, placesOf } from "./stage";
import { choose, cursor, doc, frameAt, type Frame, group } from "./state";

const size = signal({ width: 320, height: 320 });

const places = computed(() => doc.value && placesOf(doc.value, size.value));

/** The process whose wishes are shown, or -1: whoever the last event was about. */
const minded = signal(-1);

const titles: Record<string, string> = {
	star: "The star", ring: "The ring", tree: "The tree", grid: "The grid", plane: "The plane", mesh: "The group",
	tickets: "The tickets", flags: "The flags", rounds: "The election", sites: "The sites", resources: "The resources",
};

export function Scene() {
	const d = doc.value;
	const ref = useSize<HTMLDivElement>((s) => (size.value = s));
	return (
		<section class="scene" data-tour="scene" aria-label="the group">
			<h2>{d ? titles[d.scene.shape] ?? "The group" : "The group"} <span>{d?.scene.title}</span></h2>
			<div class="picture" ref={ref}>{d && <Picture d={d} />}</div>
			{d && <Why d={d} />}
			<Controls />
		</section>
	);
}

function Picture({ d }: { d: Doc }) {
	const { width, height } = size.value;
	const frame = frameAt(d, cursor.value);
	const stage = { ...places.value!, frame };
	const mind = mindOf(d, frame);
	const last = cursor.value > 0 ? d.events[cursor.value - 1]!.proc : -1;
	return (
		<svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`${d.names.length - sitesOf(d)} processes`}>
			<defs>
				<marker id="tip" markerUnits="userSpaceOnUse" orient="auto" markerWidth="9" markerHeight="8" refX="8" refY="4"><path d="M0 0L9 4L0 8z" class="tip" /></marker>
				<marker id="tip-cycle" markerUnits="userSpaceOnUse" orient="auto" markerWidth="10" markerHeight="9" refX="9" refY="4.5"><path d="M0 0L10 4.5L0 9z" class="tip-cycle" /></marker>
			</defs>
			<Ground stage={stage} mind={mind} />
			{d.scene.shape === "sites" && <Sites stage={stage} />}
			{d.scene.shape === "resources" && <Resources stage={stage} />}
			<Pointers stage={stage} />
			{d.scene.shape === "sites" && <Waits stage={stage} />}
			{d.names.map((name, i) => (i < sitesOf(d) ? null : <Process key={i} lane={i} name={name} spot={stage.spots[i]} far={stage.far[i]} radius={stage.radius} status={frame.status[i] ?? "idle"} wait={frame.waits[i] ?? ""} acts={i === last} chosen={group.value.includes(i)} />))}
			{d.names.map((_, i) => (i < sitesOf(d) ? null : <Badges key={i} stage={stage} lane={i} />))}
			<Flights stage={stage} />
		</svg>
	);
}

/** mindOf is whose sets and answers are shown. */
function mindOf(d: Doc, frame: Frame): number {
	if (minded.value >= 0 && minded.value < d.names.length) return minded.value;
	const busy = (i: number) => frame.status[i] === "waiting" || frame.status[i] === "inside";
	const last = cursor.value > 0 ? d.events[cursor.value - 1]!.proc : -1;
	if (last >= 0 && busy(last)) return last;
	return frame.status.findIndex((_, i) => busy(i));
}

interface ProcessProps {
	lane: number;
	name: string;
	spot: Spot | undefined;
	far: Spot | undefined; // of its name, if that does not fit in
	radius: number;
	status: string;
	wait: string;
	acts: boolean; // the last event is its own
	chosen: boolean;
}

/** Process is painted again only if something of it is different: there may be a hundred. */
function Process({ lane, name, spot, far, radius, status, wait, acts, chosen }: ProcessProps) {
	const open = (e: Event) => {
		e.preventDefault();
		openAt(e.currentTarget as Element, { what: "process", proc: lane });
	};
	return useMemo(() => spot && (
		<g
			class={`process is-${status}${acts ? " acts" : ""}`}
			data-proc={lane}
			role="button"
			tabindex={0}
			aria-haspopup="menu"
			aria-label={`${name}, ${status}${wait ? `, ${wait}` : ""}`}
			aria-pressed={chosen}
			onClick={(e) => (e.shiftKey ? choose(lane) : openMenu({ what: "process", proc: lane, x: e.clientX + 4, y: e.clientY + 4 }))}
			onKeyDown={(e) => (e.key === "Enter" || e.key === " ") && (e.stopPropagation(), e.shiftKey ? (e.preventDefault(), choose(lane)) : open(e))}
			onMouseEnter={() => (minded.value = lane)}
			onMouseLeave={() => (minded.value = -1)}
			onFocus={() => (minded.value = lane)}
			onBlur={() => (minded.value = -1)}
		>
			<title>{`${name}: ${wait || status}`}</title>
			{radius < 12 && <circle class="target" cx={spot.x} cy={spot.y} r={Math.max(radius, 8)} />}
			<circle class="body" cx={spot.x} cy={spot.y} r={radius} />
			{status === "waiting" && radius > 6 && <circle class="halo" cx={spot.x} cy={spot.y} r={radius + 4} />}
			{chosen && <rect class="chosen" x={spot.x - radius - 6} y={spot.y - radius - 6} width={2 * radius + 12} height={2 * radius + 12} rx="6" />}
			{far && <text class="name far" x={far.x} y={far.y} font-size="9">{name}</text>}
			{radius >= least && <text class="name" x={spot.x} y={spot.y} dy="0.35em" font-size={Math.min(15, Math.max(7, radius * 0.72))}>{name}</text>}
			{status === "crashed" && <path class="dead" transform={`translate(${spot.x} ${spot.y})`} d={`M${-radius * 0.6} ${-radius * 0.6}L${radius * 0.6} ${radius * 0.6}M${-radius * 0.6} ${radius * 0.6}L${radius * 0.6} ${-radius * 0.6}`} />}
			{status === "paused" && radius >= 9 && <path class="halted" d={`M${spot.x - 3} ${spot.y + radius - 2}v8m6-8v8`} />}
			{status === "leading" && <path class="star" transform={`translate(${spot.x} ${spot.y - radius - 8})`} d="M0-8L2.3-2.4L8-2.4L3.5 1.2L5.5 7L0 3.5L-5.5 7L-3.5 1.2L-8-2.4L-2.3-2.4z" />}
		</g>
	), [lane, name, spot, far, radius, status, wait, acts, chosen]);
}

/** Badges are what a process has beside it: the token, a queue, a number, a vote. */
function Badges({ stage, lane }: { stage: Stage; lane: number }) {
	const { d, frame, radius, spots } = stage;
	const spot = spots[lane];
	if (!spot || radius < 8) return spot && hasToken(stage, lane) ? <Token x={spot.x} y={spot.y - 10} /> : null;
	const names = d.scene;
	const words: string[] = [];
	const queue = field(frame, lane, names.queue);
	if (queue && queue !== "none") words.push(`${names.queue === "Q" ? "queue" : names.queue} ${short(queue)}`);
	const vote = named(field(frame, lane, names.votes))[0];
	// In a small grid there is room for the name alone; ticks say who has voted.
	if (vote !== undefined && (names.shape !== "grid" || radius >= 12)) words.push(`${radius < 20 ? "" : `${names.votes} `}→ ${d.names[vote] ?? "?"}`);
	const number = field(frame, lane, names.number);
	if (number !== "" && !(names.shape === "tickets" && number === "0")) words.push(`${radius < 16 ? "" : `${names.number} `}${number}`);
	return (
		<g class="badges">
			{words.map((w, i) => <Pill key={i} stage={stage} lane={lane} text={w} row={i} />)}
			{hasToken(stage, lane) && <Token x={spot.x - radius * 0.8} y={spot.y + radius * 0.85} />}
		</g>
	);
}

function short(queue: string): string {
	return queue.length > 16 ? `${queue.slice(0, 14)} …` : queue;
}

function Token({ x, y }: { x: number; y: number }) {
	return (
		<g class="token" transform={`translate(${x} ${y})`}>
			<title>the token</title>
			<circle r="8.5" />
			<text dy="0.35em">T</text>
		</g>
	);
}

function Pill({ stage, lane, text, row }: { stage: Stage; lane: number; text: string; row: number }) {
	const small = stage.d.scene.shape === "grid" && stage.radius < 20;
	const wide = text.length * (small ? 5 : 6.1) + (small ? 4 : 12);
	const { x, y } = beside(stage, lane, wide, row);
	return (
		<g class={small ? "pill small" : "pill"} transform={`translate(${x} ${y})`}>
			<rect width={wide} height="17" rx="8.5" />
			<text x={wide / 2} y="12">{text}</text>
		</g>
	);
}

/** beside finds a place for words at a process, away from its links. */
function beside({ d, spots, radius, width }: Stage, lane: number, wide: number, row: number): { x: number; y: number } {
	const spot = spots[lane]!;
	const within = (x: number) => Math.max(2, Math.min(width - wide - 2, x));
	const below = { x: within(spot.x - wide / 2), y: spot.y + radius + 8 + row * 18 };
	switch (d.scene.shape) {
		case "tree":
			if (!d.scene.links.some((l) => l.from === lane)) return below;
			return { x: spot.x + radius + 5 + wide > width ? within(spot.x - radius - 5 - wide) : spot.x + radius + 5, y: spot.y - 14 + row * 18 };
		case "grid":
			return { x: within(spot.x - wide / 2), y: spot.y + radius * 1.62 - (radius < 20 ? 13 : 19) - row * 18 };
		default: {
			const top = Math.min(...spots.map((s) => s.y));
			const bottom = Math.max(...spots.map((s) => s.y));
			if (spot.y > (top + bottom) / 2 + 1) return below;
			return { x: within(spot.x - wide / 2), y: spot.y - radius - 24 - row * 18 };
		}
	}
}

const mostReasons = 4;

/** Why says why each one waits. */
function Why({ d }: { d: Doc }) {
	const frame = frameAt(d, cursor.value);
	const waiting = frame.waits.map((w, i) => ({ i, w })).filter(({ w }) => w !== "");
	const cycles = d.graph?.findLast((g) => g.event <= cursor.value)?.cycles ?? [];
	return (
		<div class="why" aria-live="off">
			{cycles.map((c) => <p key={c.join()} class="cycle">{[...c, c[0]!].map((i) => d.names[i]).join(" → ")}: {d.kind === "graph" ? "a cycle: each asks for what the next one has." : "each waits for the next, for ever."}</p>)}
			{waiting.slice(0, mostReasons).map(({ i, w }) => <p key={i}><b>{d.names[i]}</b> {w}.</p>)}
			{waiting.length > mostReasons && <p class="soft">and {waiting.length - mostReasons} more wait: see the states</p>}
			{d.kind === "graph" && <p>{cursor.value < d.events.length ? "Step: one after the other ends who can get all that it asks for." : d.events.at(-1)!.text}</p>}
			{waiting.length === 0 && cycles.length === 0 && <p class="soft">Nobody waits. Click a process or a message: what you choose becomes a line.</p>}
		</div>
	);
}
