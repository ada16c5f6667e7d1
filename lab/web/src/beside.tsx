// What is shown next to a process: the token, a queue, a number, a vote. Words are placed
// where nothing else is. If there is too little room they are shortened, and the full
// text appears on hover.

import { accountAt, money } from "./account";
import type { Doc } from "./document";
import { type Box, type Line, Room, widthOf } from "./room";
import { type Stage, between, cellOf, field, hasHalo, haloOf, hasToken, named, stampOf, voteRoom, sitesOf } from "./stage";

/** Words next to a process. */
export interface Words {
	lane: number;
	text: string;
	whole: string;
	small: boolean;
	at: Box;
}

const longest = [30, 22, 16, 10]; // maximum number of letters, as room gets scarcer

/**
 * wordsOf finds places for the words next to processes, in a room that contains
 * everything else. All are shortened only as much as necessary.
 */
export function wordsOf(stage: Stage, room: Room): { words: Words[]; room: Room } {
	for (let level = 0; ; level++) {
		const trial = room.copy();
		const { words, free } = arrange(stage, trial, level);
		if (free || level === longest.length - 1) return { words, room: trial };
	}
}

function arrange(stage: Stage, room: Room, level: number): { words: Words[]; free: boolean } {
	const words: Words[] = [];
	let free = true;
	const small = stage.d.scene.shape === "grid" && stage.radius < 20;
	for (let lane = sitesOf(stage.d); lane < stage.spots.length; lane++) {
		let before: Box | undefined;
		for (const { text, whole } of saidOf(stage, lane, level)) {
			const wide = widthOf(text, small ? 9 : 11) + (small ? 4 : 12);
			const found = room.place(around(stage, lane, wide, small ? 13 : 17, before));
			free &&= found.free;
			before = found.at;
			words.push({ lane, text, whole, small, at: found.at });
		}
	}
	return { words, free };
}

/** saidOf returns what is shown next to a process, shorter at each level. */
function saidOf(stage: Stage, lane: number, level: number): { text: string; whole: string }[] {
	const { d, frame, radius, room, spots } = stage;
	const names = d.scene;
	const all: { text: string; whole: string }[] = [];
	if (!spots[lane] || radius < 8) return all;
	const stamp = stampOf(stage, lane); // it decides, so it is never shortened
	if (stamp) all.push({ text: stamp, whole: stamp });
	const read = accountAt(d, frame.at)?.read[accountAt(d, frame.at)!.reads.indexOf(lane)];
	if (read !== undefined) all.push({ text: `read ${money(read)}`, whole: `read the balance ${money(read)}` });
	if (d.kind === "sections") {
		const whole = names.groups.filter((g) => g.members.includes(lane)).map((g) => g.name).join(", ");
		if (whole) all.push({ text: short(whole, longest[level]!), whole });
	}
	const queue = field(frame, lane, names.queue);
	if (queue && queue !== "none") {
		const whole = `${names.queue === "Q" ? "queue" : names.queue} ${queue}`;
		all.push({ text: short(whole, longest[level]!), whole });
	}
	const vote = named(field(frame, lane, names.votes))[0];
	// A small grid has room only for the name; ticks show which processes have voted.
	if (vote !== undefined && (names.shape !== "grid" || room >= voteRoom)) {
		const whole = `${names.votes} → ${d.names[vote] ?? "?"}`;
		all.push({ text: level > 0 || radius < 16 ? whole.slice(whole.indexOf("→")) : whole, whole });
	}
	const number = field(frame, lane, names.number);
	if (names.shape === "rounds") {
		// A process that calls an election, or was answered and gives way.
		if (number !== "" && number !== "QUIET" && frame.status[lane] !== "crashed") all.push({ text: number.toLowerCase(), whole: `${names.number} ${number}` });
	} else if (number !== "" && !(names.shape === "tickets" && number === "0")) all.push({ text: level > 0 || radius < 16 ? number : `${names.number} ${number}`, whole: `${names.number} ${number}` });
	return all;
}

function short(words: string, most: number): string {
	return words.length > most ? `${words.slice(0, most - 2).trimEnd()} …` : words;
}

/**
 * around returns places for words at a process, the best first: away from the others, and
 * from its links.
 */
function around(stage: Stage, lane: number, wide: number, high: number, before: Box | undefined): Box[] {
	const { d, radius, width, spots } = stage;
	const { x, y } = spots[lane]!;
	const box = (x: number, y: number): Box => ({ x, y, wide, high });
	const within = (x: number, y: number): Box => box(Math.max(2, Math.min(width - wide - 2, x)), y);
	if (d.scene.shape === "grid") {
		const { half, lift } = cellOf(stage);
		return [box(x - wide / 2, y + lift + half - high - 1)];
	}
	const ring = (far: number): Box[] => {
		const [below, above, right, left] = [within(x - wide / 2, y + far), within(x - wide / 2, y - far - high), box(x + far, y - high / 2), box(x - far - wide, y - high / 2)];
		const slant = far * 0.72;
		const [se, sw, ne, nw] = [box(x + slant, y + slant), box(x - slant - wide, y + slant), box(x + slant, y - slant - high), box(x - slant - wide, y - slant - high)];
		const lower = [below, se, sw, right, left, ne, nw, above];
		const upper = [above, ne, nw, right, left, se, sw, below];
		if (d.scene.shape === "tree") return d.scene.links.some((l) => l.from === lane) ? [right, left, se, ne, sw, nw, below, above] : lower;
		return y > middle(stage) + 1 ? lower : upper;
	};
	const stacked = before ? [within(before.x + (before.wide - wide) / 2, before.y + high + 1), within(before.x + (before.wide - wide) / 2, before.y - high - 1)] : [];
	if (before && before.y < y) stacked.reverse();
	return [...stacked, ...ring(radius + 6), ...ring(radius + 20)];
}

/** middle returns the height of the middle of a group. */
function middle({ spots }: Stage): number {
	const all = spots.map((s) => s.y);
	return (Math.min(...all) + Math.max(...all)) / 2;
}

/** tokenAt returns the position of the token at a process. */
function tokenAt({ spots, radius }: Stage, lane: number): { x: number; y: number } {
	const { x, y } = spots[lane]!;
	return radius < 8 ? { x, y: y - 10 } : { x: x - radius * 0.8, y: y + radius * 0.85 };
}

const tokenSize = 8.5;

/** furnished returns the room of a group, containing the processes and what belongs to them. */
export function furnished(stage: Stage, lines: Line[]): Room {
	const { d, frame, radius, spots, far, width, height } = stage;
	const room = Room.of(width, height);
	const trapped = new Set(d.graph?.findLast((g) => g.event <= frame.at)?.cycles.flat() ?? []);
	for (let lane = sitesOf(d); lane < spots.length; lane++) {
		const { x, y } = spots[lane]!;
		const status = frame.status[lane];
		room.take({ x, y, r: radius + (trapped.has(lane) ? 8 : hasHalo(status, frame.waits[lane]) ? haloOf(radius) - radius + 1 : 1) });
		if (hasToken(stage, lane)) room.take({ ...tokenAt(stage, lane), r: tokenSize });
		if (status === "leading") room.take({ x: x - 8, y: y - radius - 16, wide: 16, high: 15 });
		if (status === "paused") room.take({ x: x - 5, y: y + radius - 2, wide: 10, high: 9 });
		const name = far[lane];
		if (name) room.take({ x: name.x - 9, y: name.y - 9, wide: 18, high: 11 });
	}
	if (d.scene.shape === "grid") {
		const { half, lift } = cellOf(stage);
		for (const { x, y } of spots) room.take({ x: x + half - 12, y: y + lift - half + 2, wide: 9, high: 8 }); // for ticks
	}
	for (const line of lines) room.draw(line);
	return room;
}

/** linesOf returns the lines of a picture that words avoid. */
export function linesOf({ d, frame, spots, radius }: Stage): Line[] {
	const pairs = d.scene.links.map(({ from, to }) => [from, to]);
	for (const name of [d.scene.pointer, d.scene.next]) {
		if (name) for (const lane of spots.keys()) pairs.push([lane, named(field(frame, lane, name))[0] ?? lane]);
	}
	return pairs.flatMap(([from, to]) => {
		const [a, b] = [spots[from!], spots[to!]];
		return a && b && from !== to ? [between(a, b, radius, radius)] : [];
	});
}

export function Beside({ stage, words }: { stage: Stage; words: Words[] }) {
	return (
		<g class="badges">
			{stage.spots.map((_, lane) => lane >= sitesOf(stage.d) && hasToken(stage, lane) && <Token key={lane} {...tokenAt(stage, lane)} of={stage.d} />)}
			{words.map((w, i) => <Pill key={`${w.lane} ${i}`} words={w} name={stage.d.names[w.lane] ?? ""} />)}
		</g>
	);
}

/** tokenName returns what a token means. */
export function tokenName(d: Doc): string {
	return d.scene.shape === "flags" ? "a privilege: it may move, or enter" : "the token";
}

/** Token is the sign of a token or, in a ring of flags, of a privilege. */
export function Token({ x, y, of }: { x: number; y: number; of: Doc }) {
	return (
		<g class="token" transform={`translate(${x} ${y})`}>
			<title>{tokenName(of)}</title>
			<circle r={tokenSize} />
			<text dy="0.35em">{of.scene.shape === "flags" ? "P" : "T"}</text>
		</g>
	);
}

function Pill({ words: { at, text, whole, small }, name }: { words: Words; name: string }) {
	return (
		<g class={`pill${small ? " small" : ""}${text === whole ? "" : " short"}`} transform={`translate(${at.x} ${at.y})`}>
			<title>{`${name}: ${whole}`}</title>
			<rect width={at.wide} height={at.high} rx={at.high / 2} />
			<text x={at.wide / 2} y={at.high / 2} dy="0.35em">{text}</text>
		</g>
	);
}
