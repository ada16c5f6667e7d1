// What is shown: a document, a place in it, and how it is looked at. Where the document comes
// from is not known here: in the lab it is that of a text, see state.ts.

import { batch, computed, signal } from "@preact/signals";
import type { Doc } from "./document";
import { firstOf } from "./search";

/** The spacing of events in the diagram. */
export type Spacing = "event" | "time";

/** The document that is shown. */
export const doc = signal<Doc | undefined>(undefined);
/** How many events have happened. */
export const cursor = signal(0);
/** The event that is pointed at, or -1. */
export const hover = signal(-1);
/** The events chosen for comparison: none, one or two. */
export const picked = signal<number[]>([]);
/** The processes chosen to be cut off together. */
export const group = signal<number[]>([]);
export const playing = signal(false);
/** The number of steps per second, as a factor. */
export const speed = signal(1);
/** The wanted spacing of events. */
export const spacing = signal<Spacing>("time");
/** Their spacing in the document that is shown. */
export const laid = signal<Spacing>("time");
/** How the page is shown: as a whole, as a presentation, with speaker notes, or in a frame. */
export const mode = signal<"" | "present" | "notes" | "embed">("");
/** Whether the page asks which process enters next. */
export const quizzing = signal(false);
/** What the page has to say about the last click; empty if nothing. */
export const notice = signal("");

/** How many events there are. */
export const total = computed(() => doc.value?.events.length ?? 0);

/** seek moves the cursor. */
export function seek(to: number, goOn = false): void {
	batch(() => {
		if (!goOn) playing.value = false;
		cursor.value = Math.max(0, Math.min(total.value, Math.round(to)));
	});
}

/** step moves the cursor by some events. */
export function step(by: number): void {
	seek(cursor.value + by);
}

/** choose adds a process to the group to cut off, or removes it. */
export function choose(proc: number): void {
	group.value = group.value.includes(proc) ? group.value.filter((p) => p !== proc) : [...group.value, proc].sort((a, b) => a - b);
}

/** What can be jumped to. */
type Wanted = "entry" | "violation";

/** The cursors just after what can be jumped to. */
const wantedAt = computed(() => {
	const found: Record<Wanted, number[]> = { entry: [], violation: [] };
	for (const [i, { kind }] of (doc.value?.events ?? []).entries()) {
		if (kind === "enter" || kind === "lead") found.entry.push(i + 1);
		if (kind === "violation") found.violation.push(i + 1);
	}
	const others = (doc.value?.properties ?? []).filter((p) => !p.holds && p.event >= 0).map((p) => p.event + 1).filter((at) => !found.violation.includes(at));
	if (others.length > 0) found.violation = [...found.violation, ...others].sort((a, b) => a - b); // violations of the run as a whole
	return found;
});

/** nextOf finds the cursor just after the next event of a kind, or -1. */
export function nextOf(wanted: Wanted, from = cursor.value): number {
	const all = wantedAt.value[wanted];
	return all[firstOf(all.length, (i) => all[i]! > from)] ?? -1;
}

/** jump goes to the next event of a kind, and says if there is none. */
export function jump(wanted: Wanted): void {
	const to = nextOf(wanted);
	if (to >= 0) seek(to);
	else notice.value = wanted === "entry" ? "No process enters after this." : "There is no violation after this.";
}
