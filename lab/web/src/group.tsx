// The picture of a group, in the shape of its algorithm. The lab decides the shape, and which
// fields of the states are arrows, queues or tokens.

import { computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Beside, furnished, linesOf, wordsOf } from "./beside";
import type { Doc } from "./document";
import { Flights, flightsAt } from "./flights";
import { frameAt, type Frame } from "./frames";
import { useSize } from "./look";
import { openAt, openMenu } from "./opener";
import { Resources, arcsAt, boxesIn } from "./resources";
import { Ground, Pointers } from "./scenery";
import { choose, cursor, doc, group, mode } from "./shown";
import { Sites, Waits, signsIn, waitsAt } from "./sites";
import { type Spot, type Stage, hasHalo, haloOf, least, placesOf, sitesOf } from "./stage";

const size = signal({ width: 320, height: 320 });

const places = computed(() => doc.value && placesOf(doc.value, size.value, mode.value === "present" || mode.value === "notes" ? 40 : 25));

/** The process whose wishes are shown, or -1: the one that the last event was about. */
const minded = signal(-1);

const titles: Record<string, string> = {
	star: "The star", ring: "The ring", tree: "The tree", grid: "The grid", plane: "The plane", mesh: "The group",
	tickets: "The tickets", flags: "The flags", rounds: "The election", sites: "The sites", resources: "The resources",
};

/** titleOf returns what a picture shows. */
export function titleOf(d: Doc | undefined): string {
	return titles[d?.scene.shape ?? ""] ?? "The group";
}

/** Group is the picture of the document that is shown, at its cursor. */
export function Group() {
	const ref = useSize<HTMLDivElement>((s) => (size.value = s));
	return <div class="picture" ref={ref}>{doc.value && <Picture d={doc.value} />}</div>;
}

function Picture({ d }: { d: Doc }) {
	const { width, height } = size.value;
	const frame = frameAt(d, cursor.value);
	const stage = useMemo(() => ({ ...places.value!, frame }), [places.value, frame]);
	const { words, arcs, waits, flights } = useMemo(() => arranged(stage), [stage]);
	const mind = mindOf(d, frame);
	const last = cursor.value > 0 ? d.events[cursor.value - 1]!.proc : -1;
	return (
		<svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`${d.names.length - sitesOf(d)} processes`}>
			<defs>
				<marker id="tip" markerUnits="userSpaceOnUse" orient="auto" markerWidth="9" markerHeight="8" refX="8" refY="4"><path d="M0 0L9 4L0 8z" class="tip" /></marker>
				<marker id="need" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" refX="4" refY="4"><circle class="need-end" cx="4" cy="4" r="2.6" /></marker>
				<marker id="tip-cycle" markerUnits="userSpaceOnUse" orient="auto" markerWidth="10" markerHeight="9" refX="9" refY="4.5"><path d="M0 0L10 4.5L0 9z" class="tip-cycle" /></marker>
			</defs>
			<Ground stage={stage} mind={mind} />
			{d.scene.shape === "sites" && <Sites stage={stage} />}
			{d.scene.shape === "resources" && <Resources stage={stage} arcs={arcs} />}
			<Pointers stage={stage} />
			{d.scene.shape === "sites" && <Waits stage={stage} waits={waits} />}
			{d.names.map((name, i) => (i < sitesOf(d) ? null : <Process key={i} lane={i} name={name} spot={stage.spots[i]} far={stage.far[i]} radius={stage.radius} status={frame.status[i] ?? "idle"} wait={frame.waits[i] ?? ""} acts={i === last} chosen={group.value.includes(i)} />))}
			<Beside stage={stage} words={words} />
			<Flights stage={stage} flights={flights} />
		</svg>
	);
}

/**
 * arranged finds places for everything that has words, one after the other: what stays
 * longest in its place comes first.
 */
function arranged(stage: Stage) {
	const empty = furnished(stage, linesOf(stage));
	signsIn(stage, empty);
	boxesIn(stage, empty);
	const { words, room } = wordsOf(stage, empty);
	return { words, arcs: arcsAt(stage, room), waits: waitsAt(stage, room), flights: flightsAt(stage, room) };
}

/** mindOf returns the lane whose sets and answers are shown. */
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
	far: Spot | undefined; // position of its name, if that does not fit inside
	radius: number;
	status: string;
	wait: string;
	acts: boolean; // the last event is its own
	chosen: boolean;
}

/** Process is repainted only if something about it changes: there may be a hundred. */
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
			{hasHalo(status, wait) && radius > 6 && <circle class="halo" cx={spot.x} cy={spot.y} r={haloOf(radius)} />}
			{chosen && <rect class="chosen" x={spot.x - radius - 6} y={spot.y - radius - 6} width={2 * radius + 12} height={2 * radius + 12} rx="6" />}
			{status === "crashed" && <path class="dead" transform={`translate(${spot.x} ${spot.y})`} d={`M${-radius * 0.6} ${-radius * 0.6}L${radius * 0.6} ${radius * 0.6}M${-radius * 0.6} ${radius * 0.6}L${radius * 0.6} ${-radius * 0.6}`} />}
			{far && <text class="name far" x={far.x} y={far.y} font-size="9">{name}</text>}
			{radius >= least && <text class="name" x={spot.x} y={spot.y} dy="0.35em" font-size={Math.min(15, Math.max(7, radius * 0.72))}>{name}</text>}
			{status === "paused" && radius >= 9 && <path class="halted" d={`M${spot.x - 3} ${spot.y + radius - 2}v8m6-8v8`} />}
			{status === "leading" && <path class="star" transform={`translate(${spot.x} ${spot.y - radius - 8})`} d="M0-8L2.3-2.4L8-2.4L3.5 1.2L5.5 7L0 3.5L-5.5 7L-3.5 1.2L-8-2.4L-2.3-2.4z" />}
		</g>
	), [lane, name, spot, far, radius, status, wait, acts, chosen]);
}
