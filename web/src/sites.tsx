// Sites with their processes and locks, who waits for whom, and each cycle as a ring.

import { sitesOf } from "./deeds";
import { type Spot, type Stage, between, boxOf, field, named } from "./stage";
import { openAt, openMenu } from "./menu";
import { cursor } from "./state";

/** Sites are boxes with their locks, and lines from locks to those who have them. */
export function Sites({ stage }: { stage: Stage }) {
	const { d, frame, spots, locks, width, height } = stage;
	const groups = d.scene.groups;
	return (
		<g class="sites">
			{groups.map((g, i) => {
				const lane = g.members[0] ?? i;
				const status = frame.status[lane] ?? "idle";
				const { left, wide } = boxOf(d, width, i);
				return (
					<g
						key={i}
						class={`site is-${status}`}
						data-proc={lane}
						role="button"
						tabindex={0}
						aria-haspopup="menu"
						aria-label={`${g.name}, ${status}`}
						onClick={(e) => openMenu({ what: "process", proc: lane, x: e.clientX + 4, y: e.clientY + 4 })}
						onKeyDown={(e) => {
							if (e.key !== "Enter" && e.key !== " ") return;
							e.preventDefault();
							e.stopPropagation();
							openAt(e.currentTarget, { what: "process", proc: lane });
						}}
					>
						<rect x={left} y="26" width={wide} height={height - 32} rx="8" />
						<text x={left + 10} y="45">{g.name}{status === "crashed" ? " is dead" : ""}</text>
					</g>
				);
			})}
			{owners(stage).map(({ lock, proc }) => {
				const [a, b] = [locks[lock], spots[proc]];
				return a && b && <line key={`${lock} ${proc}`} class="has-lock" {...between(a, b, 12, stage.radius + 2)} />;
			})}
			{locks.map((s, k) => (
				<g key={k} class="lock" transform={`translate(${s.x} ${s.y})`}>
					<rect x="-13" y="-11" width="26" height="22" rx="3" />
					<text dy="0.35em">{d.scene.locknames?.[k]}</text>
				</g>
			))}
		</g>
	);
}

/** owners are who has which lock, as the sites of the processes remember it. */
function owners({ d, frame }: Stage): { lock: number; proc: number }[] {
	const all = [];
	for (const g of d.scene.groups) {
		for (const proc of g.procs ?? []) {
			for (const lock of named(field(frame, g.members[0] ?? 0, `${d.names[proc]}.has`))) all.push({ lock, proc });
		}
	}
	return all;
}

/** Waits is the wait-for graph at the cursor; the edges of a cycle are a ring. */
export function Waits({ stage }: { stage: Stage }) {
	const { d, spots, radius } = stage;
	const now = d.graph?.findLast((g) => g.event <= cursor.value);
	if (!now) return null;
	const inCycle = (from: number, to: number) => now.cycles.some((c) => c.some((p, i) => p === from && c[(i + 1) % c.length] === to));
	const trapped = new Set(now.cycles.flat());
	return (
		<g class="waits-for">
			{[...trapped].map((i) => spots[i] && <circle key={i} class="trapped" cx={spots[i].x} cy={spots[i].y} r={radius + 7} />)}
			{now.edges.map((e) => {
				const [a, b] = [spots[e.from], spots[e.to]];
				if (!a || !b) return null;
				const ring = inCycle(e.from, e.to);
				const { x1, y1, x2, y2 } = between(a, b, radius + 8, radius + 9);
				// Bent, so that two that wait for each other are a ring and not a line.
				const bend = 0.22 + Math.min(0.25, Math.abs(e.to - e.from) * 0.02);
				const mid = { x: (x1 + x2) / 2 + (y1 - y2) * bend, y: (y1 + y2) / 2 + (x2 - x1) * bend };
				return (
					<g key={`${e.from} ${e.to} ${e.label}`} class={ring ? "wait cycle" : "wait"}>
						<path d={`M${x1} ${y1}Q${mid.x} ${mid.y} ${x2} ${y2}`} marker-end={ring ? "url(#tip-cycle)" : "url(#tip)"} />
						<text {...free(stage, (t) => ({ x: bent(x1, mid.x, x2, t), y: bent(y1, mid.y, y2, t) }))} dy="0.35em">{e.label}</text>
						<title>{`${d.names[e.from]} waits for ${d.names[e.to]}, which has ${e.label}`}</title>
					</g>
				);
			})}
		</g>
	);
}

/** bent is a point of a quadratic curve, in one direction. */
function bent(from: number, by: number, to: number, t: number): number {
	return (1 - t) * (1 - t) * from + 2 * t * (1 - t) * by + t * t * to;
}

/** free is a place on a curve, near its middle, that no process covers. */
function free({ d, spots, radius }: Stage, way: (t: number) => Spot): Spot {
	const circles = spots.slice(sitesOf(d));
	const open = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82].map(way);
	return open.find((p) => circles.every((c) => Math.hypot(c.x - p.x, c.y - p.y) > radius + 12)) ?? open[0]!;
}
