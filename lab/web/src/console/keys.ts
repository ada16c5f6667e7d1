// The page by keyboard. help.tsx lists what is here.

import { signal } from "@preact/signals";
import { helping } from "./help";
import { flip, page } from "./pager";
import { go, route, up } from "./route";

const places: Record<string, string> = { o: "#overview", l: "#locks", w: "#graph", e: "#elections" };

/** Whether the field of the search is to have the focus. */
export const searching = signal(false);
/** Counts up whenever what happens is to be followed, or no longer. */
export const follows = signal(0);

let going = false; // g was pressed: the next key says where

/** listen handles keys. */
export function listen(): void {
	addEventListener("keydown", (e) => {
		const target = e.target instanceof HTMLElement ? e.target : undefined;
		if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
		if (target && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
			if (e.key === "Escape") target.blur();
			return;
		}
		if (pressed(e.key)) e.preventDefault();
	});
}

/** pressed does what a key means, and returns whether it means anything. */
function pressed(key: string): boolean {
	const second = going;
	going = false;
	if (second && places[key]) return done(() => go(places[key]!));
	const onLock = route.value.place === "lock";
	switch (key) {
		case "g": return done(() => (going = true));
		case "/": return done(search);
		case "?": return done(() => (helping.value = true));
		case "Escape": return onLock && done(up);
		case "[": return done(() => flip(page.value.before));
		case "]": return done(() => flip(page.value.next));
		case "f": return onLock && done(() => follows.value++);
	}
	return false;
}

function done(run: () => void): true {
	run();
	return true;
}

/** search goes to the field of the search, wherever the user is. */
function search(): void {
	if (route.value.place !== "locks") go("#locks");
	searching.value = true;
}
