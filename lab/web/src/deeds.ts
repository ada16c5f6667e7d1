// What can be done to a process or to a message now. The lab decides what it means: each
// is a call of act.

import { amounts } from "./arcs";
import type { Doc, Timer } from "./document";
import { frameAt } from "./frames";
import { picks } from "./opener";
import { choose, cursor, group, seek } from "./shown";
import { sitesOf } from "./stage";
import { type Deed, act, text } from "./state";
import { type Message, storyOf, underWay } from "./story";

export interface Item {
	label: string;
	key?: string;
	title?: string;
	/** It does something that algorithms need not tolerate. */
	breaks?: boolean;
	/** The menu stays open, with the next choices. */
	stays?: boolean;
	run(): void;
}

function does(label: string, key: string, deed: Deed, more: Partial<Item> = {}): Item {
	return { label, key, run: () => void act(deed), ...more };
}

/** forProcess returns what can be done to a process or site. */
export function forProcess(d: Doc, proc: number): { title: string; items: Item[] } {
	const frame = frameAt(d, cursor.value);
	const status = frame.status[proc] ?? "idle";
	const title = `${d.names[proc]}: ${status}`;
	if (d.kind === "graph") return { title, items: atResources(d, proc) };
	if (d.kind === "transactions") return { title, items: atSites(d, proc, frame.status) };
	const items: Item[] = [];
	if (status === "crashed") items.push(does("restarts", "s", { verb: "restart", proc }, { breaks: true }));
	else if (status === "paused") { // it does nothing until it is resumed
		items.push(does("resumes", "r", { verb: "resume", proc }));
		items.push(does("crashes", "c", { verb: "crash", proc }, { breaks: true }));
	} else {
		items.push(...wishes(d, proc, status));
		items.push(does("crashes", "c", { verb: "crash", proc }, { breaks: true }));
		items.push(does("pauses", "p", { verb: "pause", proc }));
		items.push(...alarms(d, proc), ...beliefs(d, proc, frame.status));
	}
	items.push(...cuts(d, proc));
	return { title, items };
}

/** atSites returns what can be done to a site, and to a process at one, which dies with it. */
function atSites(d: Doc, proc: number, status: string[]): Item[] {
	const mine = status[proc] ?? "idle";
	if (proc >= sitesOf(d)) return transactionWishes(d, proc, mine);
	if (mine === "crashed") return [];
	return [does("crashes", "c", { verb: "crash", proc }, { breaks: true }), ...alarms(d, proc), ...beliefs(d, proc, status)];
}

/**
 * atResources: a unit is requested, granted, or released. What has been reduced away is
 * still in the text.
 */
function atResources(d: Doc, proc: number): Item[] {
	const fields = new Map(d.keys[0]!.states[proc]);
	const mine = (name: string, resource: number) => amounts(fields.get(name) ?? "").find((a) => a.resource === resource)?.units ?? 0;
	const taken = (resource: number) => d.keys[0]!.states.flat().filter(([name]) => name === "has").flatMap(([, v]) => amounts(v)).reduce((n, a) => n + (a.resource === resource ? a.units : 0), 0);
	return (d.scene.locknames ?? []).flatMap((name, r) => {
		const [has, asks, units] = [mine("has", r), mine("asks for", r), d.scene.units?.[r] ?? 0];
		const item = (label: string, verb: string): Item => ({ label, run: () => void act({ verb, proc, locks: [r] }) });
		return [
			...(has + asks < units ? [item(`asks for ${asks > 0 ? "one more" : "a unit of"} ${name}`, "ask")] : []),
			...(taken(r) < units && (asks > 0 || has < units) ? [item(`is granted a unit of ${name}`, "grant")] : []),
			...(asks > 0 ? [item(`withdraws its request for ${name}`, "withdraw")] : []),
			...(has > 0 ? [item(`releases a unit of ${name}`, "release")] : []),
		];
	});
}

/** alarms: every running timer can expire now. */
function alarms(d: Doc, proc: number): Item[] {
	return timersAt(d, proc, cursor.value).map(({ timer, section }, i) => {
		const label = `timer ${timer}${section ? ` of ${section}` : ""} expires`;
		const run = () => void act({ verb: "expire", proc, timer, ...(section ? { section } : {}) });
		return { label, run, ...(i === 0 ? { key: "t" } : {}) };
	});
}

/** timersAt returns the timers of a lane that run after that many events. */
function timersAt(d: Doc, proc: number, at: number): Timer[] {
	const key = d.keys.findLast((k) => k.event <= at)!;
	const last = d.deltas.findLast((x) => x.timers && x.proc === proc && x.event > key.event && x.event <= at);
	return last?.timers ?? key.timers?.[proc] ?? [];
}

/** wishes are asking and leaving, in the words that the scenario has for them. */
function wishes(d: Doc, proc: number, status: string): Item[] {
	if (d.kind === "sections") return d.scene.groups.filter((g) => g.members.includes(proc)).flatMap((g) => sectionWishes(d, proc, g.name));
	if (d.algorithm.calls) return [does(d.algorithm.calls, "a", { verb: "ask", proc })];
	if (status === "inside") return [does("leaves", "l", { verb: "leave", proc })];
	return status === "waiting" ? [] : [does("asks", "a", { verb: "ask", proc })];
}

function sectionWishes(d: Doc, proc: number, section: string): Item[] {
	let phase = "idle";
	for (const e of d.events.slice(0, cursor.value)) {
		if (e.proc !== proc || (e.section !== section && e.kind !== "crash")) continue; // a crashed process is in no section
		if (e.kind === "ask") phase = "waiting";
		if (e.kind === "enter") phase = "inside";
		if (e.kind === "exit" || e.kind === "deny" || e.kind === "crash") phase = "idle";
	}
	if (phase === "inside") return [{ label: `leaves ${section}`, run: () => void act({ verb: "leave", proc, section }) }];
	return phase === "idle" ? [{ label: `asks for ${section}`, run: () => void act({ verb: "ask", proc, section }) }] : [];
}

/**
 * transactionWishes: a transaction takes locks, which are chosen one after the other, and
 * releases all of them.
 */
function transactionWishes(d: Doc, proc: number, status: string): Item[] {
	if (status === "inside") return d.steps ? [does("goes on to its next lock or its end", "g", { verb: "go", proc })] : [];
	if (status !== "idle") return [];
	if (d.steps && aborted(d, proc)) return [does("tries again", "g", { verb: "go", proc })];
	const chosen = picks.value;
	if (!chosen) return [{ label: "takes locks …", key: "a", title: "one or several, in an order that you choose", stays: true, run: () => (picks.value = []) }];
	const locks = d.scene.locknames ?? [];
	const items: Item[] = [];
	if (chosen.length > 0) items.push(does(`takes ${chosen.map((k) => locks[k]).join(", then ")}`, "a", { verb: "take", proc, locks: chosen }));
	for (const [k, name] of locks.entries()) {
		if (chosen.includes(k)) continue;
		items.push({ label: chosen.length > 0 ? `then ${name}` : `first ${name}`, ...(k < 9 ? { key: String(k + 1) } : {}), stays: true, run: () => (picks.value = [...chosen, k]) });
	}
	const back = chosen.length > 0 ? chosen.slice(0, -1) : undefined;
	items.push({ label: back ? `remove ${locks[chosen.at(-1)!]}` : "back", key: "Backspace", stays: true, run: () => (picks.value = back) });
	return items;
}

/** aborted returns whether the transaction of a process was aborted, and will be tried again. */
function aborted(d: Doc, proc: number): boolean {
	const last = d.events.slice(0, cursor.value).findLast((e) => e.proc === proc && ["ask", "enter", "exit", "deny"].includes(e.kind));
	return last?.kind === "deny";
}

/** beliefs: a dead process can be suspected, and one that is back can be trusted again. */
function beliefs(d: Doc, proc: number, status: string[]): Item[] {
	const all = sitesOf(d) || d.names.length;
	const items: Item[] = [];
	const suspected = suspectedBy(d, proc);
	for (let to = 0; to < all; to++) {
		if (to === proc) continue;
		const name = d.names[to];
		const dead = status[to] === "crashed";
		if (dead && !suspected.has(to)) items.push({ label: `suspects that ${name} has crashed`, run: () => void act({ verb: "suspect", proc, to }) });
		else if (!dead && sitesOf(d) === 0 && suspected.has(to)) items.push({ label: `trusts ${name} again`, run: () => void act({ verb: "trust", proc, to }) });
	}
	return items.slice(0, 8);
}

/**
 * suspectedBy returns the processes that a process was notified are dead, and not that
 * they are back, since it began or restarted.
 */
function suspectedBy(d: Doc, proc: number): Set<number> {
	const all = new Set<number>();
	const trusted = new Set<number>(); // according to the last notice
	for (let i = cursor.value - 1; i >= 0; i--) {
		const e = d.events[i]!;
		if (e.proc !== proc) continue;
		if (e.kind === "restart") break;
		if (e.kind === "trust" && !all.has(e.peer)) trusted.add(e.peer);
		if (e.kind === "suspect" && !trusted.has(e.peer)) all.add(e.peer);
	}
	return all;
}

/** cuts: one or several processes can be cut off from the others, and the network can be healed. */
function cuts(d: Doc, proc: number): Item[] {
	for (let i = cursor.value - 1; i >= 0; i--) {
		const { kind } = d.events[i]!;
		if (kind === "partition") return [does("the network heals", "h", { verb: "heal" })];
		if (kind === "heal") break;
	}
	if (d.names.length < 2) return [];
	const chosen = group.value.includes(proc);
	const items: Item[] = [];
	if (group.value.length > 1 && group.value.length < d.names.length) items.push(cut(d, group.value, `cut off ${group.value.map((i) => d.names[i]).join(", ")} together`, "x"));
	else items.push(cut(d, [proc], "is cut off from the others", "x"));
	if (d.names.length > 2) items.push({ label: chosen ? "remove from the group to cut off" : "add to a group to cut off", key: "+", title: "or click with Shift", run: () => choose(proc) });
	return items;
}

function cut(d: Doc, part: number[], label: string, key: string): Item {
	const others = d.names.map((_, i) => i).filter((i) => !part.includes(i));
	return { label, key, run: () => void act({ verb: "partition", parts: [part, others] }).then((done) => done && (group.value = [])) };
}

/**
 * movesOf returns everything that can happen next by itself or by a request, without faults:
 * requests and exits, timers, and messages that can arrive.
 */
export function movesOf(d: Doc): Item[] {
	if (d.kind === "graph") return [];
	const { status } = frameAt(d, cursor.value);
	const moves: Item[] = [];
	for (const [proc, is] of status.entries()) {
		if (is === "crashed" || is === "paused") continue;
		const site = proc < sitesOf(d);
		const own = site ? [] : d.kind === "transactions" ? transactionWishes(d, proc, is).filter((item) => !item.stays) : wishes(d, proc, is);
		moves.push(...[...own, ...alarms(d, proc)].map((item) => ({ ...item, label: `${d.names[proc]} ${item.label}` })));
	}
	const ahead = new Set<string>(); // links on which an earlier message is in flight
	for (const m of underWay(d, cursor.value)) {
		const link = `${m.from} ${m.to}`;
		const blocked = d.network === "fifo" && ahead.has(link);
		ahead.add(link);
		if (blocked || !reaches(d, m)) continue;
		const label = `${m.name}${m.fields.length > 0 ? ` (${m.fields.map((f) => f.join(" ")).join(", ")})` : ""} from ${d.names[m.from]} arrives at ${d.names[m.to]}`;
		moves.push({ label, run: () => void act({ verb: "deliver", msg: m.msg }) });
	}
	return moves;
}

/** forMessage returns what can be done to a message. */
export function forMessage(d: Doc, msg: number): { title: string; items: Item[] } {
	const m = storyOf(d).messages.get(msg);
	if (!m) return { title: "a message", items: [] };
	const title = `${m.name} ${d.names[m.from]} → ${d.names[m.to]}`;
	if (cursor.value <= m.sent) return { title, items: [{ label: "go to where it is sent", key: "Enter", run: () => seek(m.sent + 1) }] };
	if (cursor.value > m.ended) return { title, items: [{ label: "go back to where it is in flight", key: "Enter", run: () => seek(m.ended) }] };
	const items: Item[] = [];
	const comes = reaches(d, m);
	if (comes) items.push(does("arrives now", "d", { verb: "deliver", msg }));
	if (!d.steps) items.push(does("takes 1 T longer", "1", { verb: "delay", msg, by: 1 }), does("takes 5 T longer", "5", { verb: "delay", msg, by: 5 }));
	items.push(does("is lost", "x", { verb: "drop", msg }, { breaks: true }), does("arrives twice", "2", { verb: "duplicate", msg }, { breaks: true }));
	const others = underWay(d, cursor.value).filter((o) => o.from === m.from && o.to === m.to && d.events[o.sent]!.kind === "send");
	if (comes && others.some((o) => o.sent < m.sent)) items.push(does("overtakes the messages ahead of it", "f", { verb: "overtake", msg }, { breaks: d.network === "fifo" }));
	if (!d.steps || (others.some((o) => o.sent > m.sent) && !shuffled(d, m))) items.push(does("is overtaken by the next one", "o", { verb: "reorder", msg }, { breaks: true }));
	return { title, items };
}

/**
 * reaches returns whether a message can arrive now: a process that is paused or cut off
 * receives none, except that messages to the dead are lost.
 */
function reaches(d: Doc, m: Message): boolean {
	const status = frameAt(d, cursor.value).status[m.to];
	if (status === "crashed" || status === "paused") return status === "crashed";
	const cut = d.events.slice(0, cursor.value).findLast((e) => e.kind === "partition" || e.kind === "heal");
	if (cut?.kind !== "partition") return true;
	return (cut.name ?? "").split(" | ").some((side) => [m.from, m.to].every((p) => side.split(" ").includes(d.names[p]!)));
}

/**
 * shuffled returns whether a line may have changed the order on the link of a message
 * since it was sent: no event shows that.
 */
function shuffled(d: Doc, m: Message): boolean {
	const lines = text.value.split("\n");
	return d.lines.some(({ line, from }) => from > m.sent && from <= cursor.value && lines[line - 1]?.includes("reorder"));
}
