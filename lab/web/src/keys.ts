// The page by keyboard. The help shows what is listed here.

import { toCaption } from "./caption";
import { askCheck } from "./check";
import { backward, faster, forward, play } from "./controls";
import { pick } from "./canvas";
import { openAt } from "./opener";
import { modal } from "./panel";
import { embedded, leave, notes, present, turn } from "./present";
import { quiz } from "./quiz";
import { cursor, doc, hover, jump, mode, picked, playing, seek, spacing, total } from "./shown";
import { dialog, redo, space, undo } from "./state";

interface Key {
	keys: string[]; // as in KeyboardEvent.key; prefixed with Shift+ or Ctrl+
	shown: string;
	does: string;
	run(key: string): void;
}

/** focusOn moves the focus to a part of the page. */
function focusOn(selector: string): void {
	document.querySelector<HTMLElement>(selector)?.focus();
}

/** menuOf opens the menu of the element that a selector finds. */
function menuOf(selector: string, about: (element: Element) => Parameters<typeof openAt>[1]): void {
	const element = document.querySelector(selector);
	if (element) openAt(element, about(element));
}

export const all: Key[] = [
	{ keys: [" "], shown: "Space", does: "play or pause", run: play },
	{ keys: ["ArrowRight"], shown: "→", does: "one step forward", run: () => forward() },
	{ keys: ["ArrowLeft"], shown: "←", does: "one step back", run: () => backward() },
	{ keys: ["Shift+ArrowRight"], shown: "Shift →", does: "one event forward; a step may have several", run: () => forward(true) },
	{ keys: ["Shift+ArrowLeft"], shown: "Shift ←", does: "one event back", run: () => backward(true) },
	{ keys: ["Home"], shown: "Home", does: "to the beginning", run: () => seek(0) },
	{ keys: ["End"], shown: "End", does: "to the end", run: () => seek(total.value) },
	{ keys: ["e"], shown: "e", does: "to the next entry", run: () => jump("entry") },
	{ keys: ["v"], shown: "v", does: "to the next violation", run: () => jump("violation") },
	{ keys: ["s"], shown: "s", does: "to the next caption", run: () => toCaption(1) },
	{ keys: ["S"], shown: "S", does: "to the caption before", run: () => toCaption(-1) },
	{ keys: ["p"], shown: "p", does: "present: the whole screen, with large type; Escape ends it", run: present },
	{ keys: ["PageDown", "PageUp"], shown: "Page down", does: "to the next caption or, without captions, step; Page up goes back", run: (key) => turn(key === "PageDown" ? 1 : -1) },
	{ keys: ["w"], shown: "w", does: "in a presentation: show the speaker notes", run: notes },
	{ keys: ["q"], shown: "q", does: "quiz: predict which process enters next", run: quiz },
	{ keys: ["+", "="], shown: "+", does: "faster", run: () => faster(1) },
	{ keys: ["-"], shown: "-", does: "slower", run: () => faster(-1) },
	{ keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], shown: "1 … 9", does: "the menu of a process: ask, leave, crash and so on", run: openProcess },
	{ keys: [], shown: "Tab", does: "to every process, message and button; Enter opens its menu, Shift Enter adds a process to the group to cut off", run: () => {} },
	{ keys: ["m"], shown: "m", does: "the menu of a message in flight; ← and → go to the others", run: () => menuOf(".letter[tabindex]", (e) => ({ what: "message", msg: Number(e.getAttribute("data-msg")) })) },
	{ keys: ["i"], shown: "i", does: "inspect the last event: its past, its future, and concurrent events", run: () => (hover.value = hover.value === cursor.value - 1 ? -1 : cursor.value - 1) },
	{ keys: ["c"], shown: "c", does: "choose the last event; choose another one to see how they relate", run: () => cursor.value > 0 && pick(cursor.value - 1) },
	{ keys: ["t"], shown: "t", does: "space by time or by event", run: () => space(spacing.value === "time" ? "event" : "time") },
	{ keys: ["l"], shown: "l", does: "to the text; Escape comes back", run: () => focusOn(".editor textarea") },
	{ keys: ["u", "Ctrl+z"], shown: "u or Ctrl Z", does: "undo", run: undo },
	{ keys: ["r", "Ctrl+Shift+Z", "Ctrl+y"], shown: "r or Ctrl Y", does: "redo", run: redo },
	{ keys: ["g"], shown: "g", does: "gallery", run: () => (dialog.value = "gallery") },
	{ keys: ["n"], shown: "n", does: "new scenario", run: () => (dialog.value = "fresh") },
	{ keys: ["k"], shown: "k", does: "check every interleaving", run: askCheck },
	{ keys: ["o"], shown: "o", does: "compare algorithms", run: () => (dialog.value = "compare") },
	{ keys: ["x"], shown: "x", does: "export", run: () => (dialog.value = "export") },
	{ keys: ["?"], shown: "?", does: "this help", run: () => (dialog.value = "help") },
];

const inFrame = /^(Arrow|Page|Home$|End$|[ evsSitq+=-]$)/; // keys of an embedded page

/** typing returns whether keys belong to an element that text is typed into. */
function typing(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** listen handles keys. */
export function listen(): void {
	addEventListener("keydown", (e) => {
		if (typing(e.target)) {
			if (e.key === "Escape") (e.target as HTMLElement).blur();
			return;
		}
		if (modal(dialog.value) || e.altKey) return;
		if (embedded && !inFrame.test(e.key)) return;
		if (mode.value === "" && e.key.startsWith("Page") && e.target instanceof Element && e.target.closest(".scroll, .plot, .moves")) return; // it scrolls
		// Space on a button is a click.
		if (e.key === " " && e.target instanceof HTMLButtonElement) return;
		if (e.key === "Escape") {
			if (mode.value !== "") leave();
			hover.value = -1;
			picked.value = [];
			playing.value = false;
			return;
		}
		const name = `${e.ctrlKey || e.metaKey ? "Ctrl+" : ""}${e.shiftKey && (e.key.length > 1 || e.ctrlKey || e.metaKey) ? "Shift+" : ""}${e.key}`;
		const key = all.find((k) => k.keys.includes(name));
		if (!key) return;
		e.preventDefault();
		key.run(name);
	});
}

/** openProcess opens the menu of the process with a number. */
function openProcess(digit: string): void {
	const proc = doc.value?.names.indexOf(`P${digit}`) ?? -1;
	if (proc >= 0) menuOf(`.process[data-proc="${proc}"]`, () => ({ what: "process", proc }));
}
