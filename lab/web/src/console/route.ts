// The address of the page says what it shows: #overview, #locks?prefix=P, #lock/NAME, #graph
// or #elections.

import { signal } from "@preact/signals";

export type Place = "overview" | "locks" | "lock" | "graph" | "elections";

export interface Route {
	place: Place;
	name: string; // of a lock
	query: Record<string, string>;
}

/** routeOf reads the fragment of an address. What it does not know is the overview. */
export function routeOf(hash: string): Route {
	const [path = "", query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
	const found: Route = { place: "overview", name: "", query: Object.fromEntries(new URLSearchParams(query)) };
	if (path.startsWith("lock/")) {
		try {
			return { ...found, place: "lock", name: decodeURIComponent(path.slice(5)) };
		} catch {
			return found; // it was cut off
		}
	}
	return path === "locks" || path === "graph" || path === "elections" ? { ...found, place: path } : found;
}

/** toLock returns the fragment of the address of a lock. */
export function toLock(name: string): string {
	return `#lock/${encodeURIComponent(name)}`;
}

/** toLocks returns the fragment of the address of a list of locks. */
export function toLocks(query: Record<string, string>): string {
	const all = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
	return all === "" ? "#locks" : `#locks?${all}`;
}

export const route = signal(routeOf(location.hash));

let list = "#locks"; // what was looked at before a lock

/** follow makes the page show what its address says. */
function follow(): void {
	route.value = routeOf(location.hash);
	if (route.value.place !== "lock") list = location.hash || "#overview";
}

addEventListener("hashchange", follow);
follow();

/** go shows something else; with instead, without an entry in the browser's history. */
export function go(hash: string, instead = false): void {
	if (!instead) {
		location.hash = hash;
		return;
	}
	history.replaceState(null, "", hash);
	follow();
}

/** up goes from a lock back to what it was opened from. */
export function up(): void {
	if (route.value.place === "lock") go(list);
}
