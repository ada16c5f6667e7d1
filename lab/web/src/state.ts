// What the page knows: one value for all of it, and the few ways in which it changes. The
// document of the lab is a text; a click is a line of it, and undo is undo of text.
// Nothing here knows what an algorithm does.

import { batch, computed, effect, signal } from "@preact/signals";
import { type Refusal, backend, refused } from "./backend";
import type { Doc, Fault } from "./document";
import { type Spacing, cursor, doc, group, hover, laid, notice, picked, playing, seek, spacing } from "./shown";

export { link } from "./link";

/** What answers the calls of the page. */
export const lab = backend();

/** What lies over the page. */
export type Dialog = "" | "gallery" | "fresh" | "check" | "compare" | "export" | "tour" | "help";

/** What a click asks for, as in the call act. Lanes are counted from 0. */
export interface Deed {
	verb: string;
	proc?: number;
	msg?: number;
	to?: number;
	by?: number; // delay: additional delay, in T
	for?: number; // ask, take: length of the stay, in T
	section?: string;
	parts?: number[][];
	timer?: number;
	locks?: number[];
}

/** The result of a deed: the new text, its new line, and the cursor after it. */
interface Edited {
	text: string;
	line: number;
	event: number;
	cut?: number; // number of later lines removed because they can no longer happen
}

/** A text and its cursor, to go back to. */
interface Version {
	text: string;
	cursor: number;
}

/** A copy of the text that evolves separately. */
export interface Branch extends Version {
	id: number;
	parent: number; // id of the branch that it was made from; -1 for the first
	name: string;
	past: Version[];
	future: Version[];
}

export const text = signal("");
/** What is wrong with the current text. */
export const fault = signal<Fault | undefined>(undefined);
export const dialog = signal<Dialog>("");
/** The line that was just added, or 0. */
export const newest = signal(0);
export const branches = signal<Branch[]>([{ id: 0, parent: -1, name: "main", text: "", cursor: 0, past: [], future: [] }]);
export const branchAt = signal(0);
export const undoable = computed(() => here().past.length > 0);
export const redoable = computed(() => here().future.length > 0);

const kept = 500; // number of versions that can be restored

function here(): Branch {
	return branches.value[branchAt.value]!;
}

/** changeBranch changes a branch, by default the current one. */
function changeBranch(change: Partial<Branch>, { id } = here()): void {
	branches.value = branches.value.map((b) => (b.id === id ? { ...b, ...change } : b));
}

/** How a text is applied. */
interface EditOptions {
	/** The new cursor; by default the current one, if that still exists. */
	cursor?: number;
	/** It belongs to the change before it: undo reverts both. For typing. */
	keep?: boolean;
	/** The new line, to be marked. */
	line?: number;
}

/**
 * edit applies a text and runs it. If it has an error, the last good picture stays. It
 * returns whether the text is good.
 */
export function edit(next: string, options: EditOptions = {}): Promise<boolean> {
	if (next === text.value && doc.value && !fault.value) {
		if (options.cursor !== undefined) seek(options.cursor);
		return Promise.resolve(true);
	}
	batch(() => {
		if (text.value !== "" && next !== text.value && !options.keep) changeBranch({ past: [...here().past, version()].slice(-kept), future: [] });
		text.value = next;
		newest.value = options.line ?? 0;
		notice.value = "";
	});
	return run(options.cursor);
}

// Only the newest text is of interest.
let asked = new AbortController();
let aim: number | undefined; // where the cursor goes once it is answered
let settled: Promise<unknown> = Promise.resolve(); // resolves once it is answered
const running = signal(false); // it is not answered yet
const clicks = signal(0); // clicks that are not lines yet
/** Whether what is shown will still change because of a pending request. */
export const busy = computed(() => running.value || clicks.value > 0);

/** version returns the current text, and where the cursor is in it or will be. */
function version(): Version {
	return { text: text.value, cursor: aim ?? cursor.value };
}

/**
 * settle waits until what is shown is the document of the current text, or that text has
 * an error.
 */
export async function settle(): Promise<void> {
	for (let seen; seen !== settled; ) await (seen = settled);
}

/** run requests the document of the current text. */
export function run(at?: number): Promise<boolean> {
	asked.abort();
	asked = new AbortController();
	aim = at;
	const done = answered(at, asked.signal);
	const mine = (settled = done.catch(() => {}).then(() => {
		if (settled === mine) running.value = false;
	}));
	running.value = true;
	return done;
}

async function answered(at: number | undefined, signal: AbortSignal): Promise<boolean> {
	const how = spacing.value;
	try {
		const answer: Doc | Refusal = await lab.call<Doc>("run", { text: text.value, spacing: how }, signal);
		if (signal.aborted) return false;
		aim = undefined;
		batch(() => {
			if (!refused(answer)) laid.value = how;
			fault.value = refused(answer) ? answer.error : undefined;
			if (!refused(answer)) show(answer, at);
		});
		return !refused(answer);
	} catch (err) {
		if (!signal.aborted) throw err;
		return false;
	}
}

function show(next: Doc, at?: number): void {
	const same = doc.value?.events.length === next.events.length && at === undefined;
	doc.value = next;
	hover.value = -1;
	if (!same) picked.value = [];
	group.value = group.value.filter((p) => p < next.names.length);
	seek(at ?? cursor.value, true);
}

/** space chooses the spacing of events. */
export function space(how: Spacing): void {
	if (how === spacing.value) return;
	spacing.value = how;
	void run(aim);
}

/** Where a click was made: in a text of a branch. */
interface Click extends Version {
	branch: number;
}

/** The result of a click: whether it is a line of a good text, and what the next click may find. */
interface Outcome {
	good: boolean;
	end: Click | undefined;
}

let last: Promise<Click | undefined> = Promise.resolve(undefined); // result of the last click

/**
 * act does what a click means, after the clicks before it: it adds a line, whose place
 * the lab finds.
 */
export function act(deed: Deed): Promise<boolean> {
	playing.value = false;
	const click = { ...version(), branch: here().id };
	const before = clicks.value > 0 ? last : Promise.resolve(undefined);
	clicks.value++;
	const done = before.then((end) => add(deed, click, end));
	last = done.then(({ end }) => end, () => undefined).finally(() => clicks.value--);
	return done.then(({ good }) => good);
}

/**
 * add makes a click a line of the text that it was made in, or of what the click before
 * it made of that text; of no other one.
 */
async function add(deed: Deed, click: Click, before: Click | undefined): Promise<Outcome> {
	const from = [before, click].find((v) => v?.branch === click.branch && v.text === textOf(v.branch));
	const answer = from && (await whileHere(from, (signal) => lab.call<Edited>("act", { text: from.text, event: from.cursor, deed }, signal)));
	if (!answer) {
		notice.value = "The text changed before the click could become a line: click again.";
		return { good: false, end: undefined };
	}
	if (refused(answer)) {
		notice.value = answer.error.text;
		return { good: false, end: before };
	}
	const next = { text: answer.text, cursor: answer.event };
	const end = { ...next, branch: click.branch };
	if (click.branch !== here().id) { // it appears when the user comes back
		const there = branches.value.find((b) => b.id === click.branch)!;
		changeBranch({ ...next, past: [...there.past, { text: there.text, cursor: there.cursor }].slice(-kept), future: [] }, there);
		return { good: true, end };
	}
	const good = await edit(answer.text, { cursor: answer.event, line: answer.line });
	if (answer.text === from.text) notice.value = "The text already has this as its next line, so no line was added.";
	else if (answer.cut && text.value === answer.text) notice.value = `${answer.cut} later ${answer.cut === 1 ? "line" : "lines"} could no longer happen and ${answer.cut === 1 ? "was" : "were"} removed: undo brings ${answer.cut === 1 ? "it" : "them"} back.`;
	return { good, end };
}

/** textOf returns the text of a branch, whichever branch is shown; undefined if it was closed. */
function textOf(id: number): string | undefined {
	return id === here().id ? text.value : branches.value.find((b) => b.id === id)?.text;
}

/**
 * whileHere asks for something as long as the text of a branch stays the same: if it
 * changes, there is no answer.
 */
async function whileHere<T>(from: Click, ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
	const left = new AbortController();
	const stop = effect(() => {
		if (textOf(from.branch) !== from.text) left.abort();
	});
	try {
		return await ask(left.signal);
	} catch (err) {
		if (!left.signal.aborted) throw err;
		return undefined;
	} finally {
		stop();
	}
}

/** undo goes back to the text before the last change. */
export function undo(): void {
	const { past, future } = here();
	const to = past.at(-1);
	if (!to) return;
	go(to, { past: past.slice(0, -1), future: [version(), ...future] });
}

/** redo does again what was undone. */
export function redo(): void {
	const { past, future } = here();
	const to = future[0];
	if (!to) return;
	go(to, { past: [...past, version()], future: future.slice(1) });
}

function go(to: Version, change: Partial<Branch>): void {
	batch(() => {
		changeBranch(change);
		text.value = to.text;
		newest.value = 0;
		notice.value = "";
	});
	void run(to.cursor);
}

let made = 0; // branches without a name of their own
let ids = 0; // branches other than the first

/** branch makes a copy of the text and continues in it; the old one stays as it is. */
export function branch(name = `branch ${++made}`): void {
	batch(() => {
		changeBranch(version());
		branches.value = [...branches.value, { id: ++ids, parent: here().id, name, ...version(), past: [], future: [] }];
		branchAt.value = branches.value.length - 1;
	});
}

/** The branches of a page, for its history: without what can be undone. */
export interface Kept {
	branches: { id: number; parent: number; name: string; text: string; cursor: number }[];
	at: number;
	prepared: string;
}

/** keep returns the branches as they are now. */
export function keep(): Kept {
	const now = branches.value.map((b, i) => (i === branchAt.value ? { ...b, ...version() } : b));
	return { branches: now.map(({ id, parent, name, text, cursor }) => ({ id, parent, name, text, cursor })), at: branchAt.value, prepared: prepared.value };
}

/** restore brings branches back whose current one has the given text; it returns whether they do. */
export function restore(was: Kept | undefined, current: string): boolean {
	if (!was || was.branches[was.at]?.text !== current) return false;
	const same = branches.value.length === was.branches.length && branches.value.every((b, i) => b.id === was.branches[i]!.id);
	batch(() => {
		branches.value = was.branches.map((b) => ({ ...b, past: same ? branches.value.find((x) => x.id === b.id)!.past : [], future: [] }));
		branchAt.value = was.at;
		if (typeof was.prepared === "string") prepared.value = was.prepared;
	});
	ids = Math.max(ids, ...was.branches.map((b) => b.id));
	made = Math.max(made, ...was.branches.map((b) => Number(/^branch (\d+)$/.exec(b.name)?.[1] ?? 0)));
	return true;
}

/** The text as it was opened: what it expects was prepared for that. */
export const prepared = signal("");

/** How many documents were opened: each is an entry of the browser's history. */
export const opened = signal(0);

/** open shows another document from its beginning; Back returns to the one before. */
export function open(next: string, at = 0): Promise<boolean> {
	opened.value++;
	prepared.value = next;
	return edit(next, { cursor: at });
}

/** switchTo goes to another branch. */
export function switchTo(index: number): void {
	const to = branches.value[index];
	if (!to || index === branchAt.value) return;
	batch(() => { // at no time is the text of one in another
		changeBranch(version());
		branchAt.value = index;
		go(to, {});
	});
}

/** closeBranch discards a branch, with its text. The first one stays. */
export function closeBranch(index: number): void {
	if (index <= 0 || index >= branches.value.length) return;
	if (index === branchAt.value) switchTo(index - 1);
	batch(() => {
		branches.value = branches.value.filter((_, i) => i !== index);
		if (branchAt.value > index) branchAt.value--;
	});
}
