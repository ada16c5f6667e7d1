// The messages in flight. They glide; if reduced motion is preferred, they jump.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { beat } from "./controls";
import type { Doc } from "./document";
import { calm, kindStyle } from "./look";
import { menu, openAt, openMenu } from "./opener";
import type { Room, Round } from "./room";
import { along, bendOf } from "./routes";
import { type Spot, type Stage, sitesOf } from "./stage";
import { type Message, stepBefore, storyOf, timeAt, underWay } from "./story";

const most = 150; // maximum number drawn
const fewEnough = 24; // maximum number that glide at once: the browser makes a layer of each, so more of them jump

/** A message and its position. */
export interface Flight {
	m: Message;
	at: Spot;
	from: Spot;
	over: boolean; // it has just ended
}

export function Flights({ stage, flights }: { stage: Stage; flights: Flight[] }) {
	const { d } = stage;
	const about = menu.value;
	const were = useRef(new Map<Message, Spot>());
	const moves = flights.filter(({ m, at, from }) => !same(were.current.get(m) ?? from, at)).length;
	were.current = new Map(flights.map(({ m, at }) => [m, at]));
	return (
		<g class="flights">
			{flights.map((f) => <Letter key={f.m.msg} d={d} f={f} radius={sizeOf(stage)} glides={!calm.value && moves <= fewEnough} minded={about?.what === "message" && about.msg === f.m.msg} />)}
		</g>
	);
}

function same(a: Spot, b: Spot): boolean {
	return a.x === b.x && a.y === b.y;
}

/** sizeOf returns the radius of a message. */
function sizeOf({ radius }: Stage): number {
	return radius < 9 ? 4 : radius < 16 ? 7 : 9;
}

/**
 * flightsAt places the messages in flight, and those that the last step ended, where they
 * cover nothing.
 */
export function flightsAt(stage: Stage, room: Room): Flight[] {
	const { d } = stage;
	const { at } = stage.frame;
	const now = timeAt(d, at);
	const flights: Flight[] = [];
	const onLink = new Map<string, number>();
	for (const m of ended(d, at)) {
		const way = wayOf(stage, m);
		if (way) flights.push({ m, at: m.how === "arrives" ? way(1) : free(stage, room, m, way, 0.6), from: way(0), over: true });
	}
	for (const m of underWay(d, at).slice(0, most)) {
		const way = wayOf(stage, m);
		if (!way) continue;
		// Messages of one link should not overlap.
		const link = `${m.from} ${m.to}`;
		const before = onLink.get(link) ?? 0;
		onLink.set(link, before + 1);
		flights.push({ m, at: free(stage, room, m, way, behind(farAlong(d, m, at, now), before)), from: way(0), over: false });
	}
	return flights;
}

/** free returns an unoccupied place on a way, near the position of a message on it. */
function free(stage: Stage, room: Room, m: Message, way: Way, far: number): Spot {
	const size = sizeOf(stage);
	if (size < 7) return aside(stage, way(far)); // there are many, and they have no letters on them
	const r = size + (stage.d.kinds[m.kind]?.heavy ? 2 : 0) + 1;
	const places: Round[] = [];
	for (const off of [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5]) {
		for (const by of [0, 0.06, -0.06, 0.12, -0.12, 0.18, -0.18, 0.26, -0.26, 0.36, -0.36]) {
			if (far + by < 0.08 || far + by > 0.92) continue;
			const { x, y } = way(far + by, off * r);
			places.push({ x: kept(x, stage.width), y: kept(y, stage.height), r });
		}
	}
	return room.place(places).at;
}

/** ended returns the messages that the last step ended. */
function ended(d: Doc, at: number): Message[] {
	const all: Message[] = [];
	const { messages } = storyOf(d);
	for (let i = stepBefore(d, at); i < at; i++) {
		const e = d.events[i]!;
		const m = e.msg ? messages.get(e.msg) : undefined;
		if (m?.ended === i) all.push(m);
	}
	return all;
}

/**
 * farAlong returns how much of its way a message has covered: by time, or by steps if
 * there is no time.
 */
function farAlong(d: Doc, m: Message, at: number, now: number): number {
	const sent = d.events[m.sent]!.at;
	const until = m.ended === Infinity ? Infinity : d.events[m.ended]!.at;
	let part = 0.5;
	if (!d.steps && until !== Infinity && until > sent) part = (now - sent) / (until - sent);
	else if (m.ended !== Infinity) part = (at - 1 - m.sent) / (m.ended - m.sent);
	return 0.22 + 0.6 * Math.max(0, Math.min(1, part));
}

/** A Way is the position after the given part of it, this far off to the right. */
type Way = (t: number, off?: number) => Spot;

/**
 * wayOf leads from the sender to the receiver, a little to the right, so that messages
 * that meet do not hide each other. In a grid it leads between the rows and columns.
 */
function wayOf(stage: Stage, m: Message): Way | undefined {
	const { d, spots, radius } = stage;
	const [a, b] = [spots[m.from], spots[m.to]];
	if (!a || !b) return undefined;
	const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
	const grid = d.scene.shape === "grid" && long > 4.5 * radius;
	const side = grid ? radius * 1.75 : Math.min(8, radius * 0.5);
	const bend = grid ? 0 : bendOf(stage, m.from, m.to);
	return (t, off = 0) => along(a, b, bend, t, off + side * (grid ? Math.min(1, 5 * t, 5 * (1 - t)) : 1));
}

/** kept keeps a letter fully visible. */
function kept(at: number, end: number): number {
	return Math.max(11, Math.min(end - 11, at));
}

/** behind returns a place behind others of the same link; at its beginning, ahead of them. */
function behind(far: number, others: number): number {
	return far - others * 0.2 >= 0.08 ? far - others * 0.2 : Math.min(0.9, far + others * 0.2);
}

/**
 * aside moves a place out of the circle of a process, whose name must stay readable, and
 * keeps it in the picture.
 */
function aside(stage: Stage, place: Spot): Spot {
	const far = stage.radius + sizeOf(stage) + 1;
	let at = place;
	const { spots } = stage;
	const first = sitesOf(stage.d);
	for (let i = 0; i < 2 * (spots.length - first); i++) { // twice: moving out of one may lead into another
		const spot = spots[first + (i % (spots.length - first))]!;
		const dx = at.x - spot.x;
		const dy = at.y - spot.y;
		if (Math.abs(dx) >= far || Math.abs(dy) >= far) continue;
		const now = Math.hypot(dx, dy);
		if (now >= far) continue;
		at = now < 1 ? { x: spot.x + far, y: spot.y } : { x: spot.x + (dx / now) * far, y: spot.y + (dy / now) * far };
	}
	return { x: kept(at.x, stage.width), y: kept(at.y, stage.height) };
}

function focused(element: Element | null): boolean {
	return element !== null && element === document.activeElement;
}

/** passOn moves the focus from a message to its receiver. */
function passOn({ to }: Message): void {
	document.querySelector<SVGElement>(`.picture [data-proc="${to}"]`)?.focus({ preventScroll: true });
}

/** Letter is repainted only if something about it changes: there may be a hundred. */
function Letter({ d, f, radius, glides, minded }: { d: Doc; f: Flight; radius: number; glides: boolean; minded: boolean }) {
	const ref = useRef<SVGGElement>(null);
	const last = useRef(f.from);
	const { x, y } = f.at;
	useLayoutEffect(() => {
		const was = last.current;
		last.current = { x, y };
		if (!glides || same(was, f.at)) return;
		ref.current?.animate([{ transform: `translate(${was.x - x}px, ${was.y - y}px)` }, { transform: "none" }], { duration: Math.min(450, beat.peek() * 0.8), easing: "ease-in-out" });
	}, [x, y]);
	const held = focused(ref.current); // checked before it changes: what is over cannot have the focus
	useLayoutEffect(() => {
		if (f.over && held) passOn(f.m);
	}, [f.over]);
	useLayoutEffect(() => {
		const letter = ref.current;
		return () => {
			if (focused(letter)) passOn(f.m);
		};
	}, []);
	return useMemo(() => {
		const kind = d.kinds[f.m.kind];
		const title = `${f.m.name} from ${d.names[f.m.from]} to ${d.names[f.m.to]}${f.m.fields.map(([name, value]) => `, ${name} ${value}`).join("")}`;
		return (
			<g
				ref={ref}
				class={`letter kind${f.over ? ` over ${f.m.how}` : ""}${kind?.heavy ? " heavy" : ""}${minded ? " minded" : ""}`}
				style={kindStyle(kind)}
				data-msg={f.m.msg}
				role={f.over ? undefined : "button"}
				tabindex={f.over ? undefined : 0}
				aria-hidden={f.over ? "true" : undefined}
				aria-haspopup={f.over ? undefined : "menu"}
				aria-label={title}
				onClick={(e) => !f.over && openMenu({ what: "message", msg: f.m.msg, x: e.clientX + 4, y: e.clientY + 4 })}
				onKeyDown={(e) => {
					if (f.over || (e.key !== "Enter" && e.key !== " ")) return;
					e.preventDefault();
					e.stopPropagation();
					openAt(e.currentTarget, { what: "message", msg: f.m.msg });
				}}
			>
				<title>{title}</title>
				<circle cx={x} cy={y} r={radius + (kind?.heavy ? 2 : 0)} />
				{radius > 4 && <text x={x} y={y} dy="0.35em" font-size={radius + 1}>{kind?.letter ?? ""}</text>}
			</g>
		);
	}, [d, f.m, f.over, x, y, radius, minded]);
}
