// Whether the node answers, and who asks it.

import { effect, signal } from "@preact/signals";
import { forget, told } from "./clock";
import { compare } from "./edition";
import type { Elsewhere, Hello, Member } from "./views";

/** What the page knows of its node. */
export type Contact =
	| { state: "starting" }
	| { state: "live" }
	| { state: "lost"; since: number; why: string; busy: boolean } // busy: it answers, but with that
	| { state: "stranger"; why: string } // it wants to know who asks
	| { state: "denied"; why: string };

export const contact = signal<Contact>({ state: "starting" });
export const hello = signal<Hello | undefined>(undefined);
/** When something was last heard of the node, by our own clock; 0 if never. */
export const heard = signal(0);
/** The members as last seen, for which of them may answer in place of the node. */
export const members = signal<Record<string, Member>>({});

/** news says that something was heard. */
export function news(): void {
	heard.value = Date.now();
	if (contact.value.state !== "live") contact.value = { state: "live" };
}

/** lost says why there is nothing from the node. */
export function lost(why: string, busy: boolean): void {
	const was = contact.value;
	contact.value = { state: "lost", since: was.state === "lost" ? was.since : heard.value || Date.now(), why, busy };
	forget();
}

/** Refused is an answer of the node that is an error. */
export class Refused extends Error {
	override name = "Refused";
	constructor(readonly status: number, why: string) {
		super(why);
	}
}

/** refusal reads why a response is an error. */
export async function refusal(response: Response): Promise<Refused> {
	const text = await response.text().catch(() => "");
	let why = text.trim().slice(0, 500);
	try {
		const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
		why = [error, message].find((it) => typeof it === "string") ?? why;
	} catch {} // it is plain text
	return new Refused(response.status, why || `it answers ${response.status} ${response.statusText}`);
}

const shelf = "stile-console-token";
let token = "";
let kept = false;
try {
	token = sessionStorage.getItem(shelf) ?? "";
	kept = token !== "";
} catch {} // the browser keeps nothing for this page

/** How often a token was given. */
export const knocks = signal(0);

/** give uses a token from now on, and keeps it in this tab if wanted. An empty one forgets it. */
export function give(it: string, keep: boolean): void {
	token = it.trim();
	kept = false;
	try {
		sessionStorage.removeItem(shelf);
	} catch {} // nothing was kept
	if (keep && token !== "") {
		try {
			sessionStorage.setItem(shelf, token);
			kept = true;
		} catch {} // it is then only in memory
	}
	contact.value = { state: "stranger", why: "" }; // until the node says whether it is good
	knocks.value++;
}

/** Whether the node can be asked again after the page was loaded again. */
export function known(): boolean {
	return token === "" || kept;
}

/** bears returns whether the page asks with a token. */
export function bears(): boolean {
	return token !== "";
}

/** headers returns the headers of a request. */
export function headers(more: Record<string, string> = {}): Record<string, string> {
	return token === "" ? more : { ...more, Authorization: `Bearer ${token}` };
}

/** reach fetches from the node; it throws what the user can do if that is not possible. */
export async function reach(path: string, init: RequestInit): Promise<Response> {
	try {
		return await fetch(path, { ...init, cache: "no-store", credentials: "same-origin" });
	} catch (err) {
		if (!(err instanceof TypeError)) throw err; // it is no longer wanted
		throw new Error(location.protocol === "https:" ? "it cannot be reached, or its certificate or yours has expired: open its address in another tab to see which" : "it cannot be reached");
	}
}

/** post makes a call, and returns the answer; it throws why there is none. */
export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
	const response = await reach(path, { method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body), signal: signal ?? null });
	if (!response.ok) throw await refusal(response);
	return (await response.json()) as T;
}

let greeted = -Infinity; // when that was last asked
const stale = 60_000; // ms until it is asked again, for where other members are

/** greet asks the node who it is, and who it takes the reader for, unless it was just asked. */
export async function greet(signal: AbortSignal, again: boolean): Promise<void> {
	if (!again && Date.now() - greeted < stale) return;
	const response = await reach("api/hello", { headers: headers(), signal });
	if (!response.ok) throw await refusal(response);
	const it = (await response.json()) as Hello;
	told(it.at_ms);
	hello.value = it;
	greeted = Date.now();
	void compare(signal).catch(() => {}); // it is compared the next time
}

/** The origins of other members' consoles, those first that seem to be well. */
export function elsewhere(): Elsewhere[] {
	const all = (hello.value?.nodes ?? []).filter(({ name, http }) => name !== hello.value!.node && isOrigin(http) && new URL(http).origin !== location.origin);
	const ill = ({ name }: Elsewhere) => Number(Boolean(members.value[name]?.error));
	return all.sort((a, b) => ill(a) - ill(b));
}

/** isOrigin returns whether an address can be gone to: what nodes say is not trusted to be one. */
function isOrigin(http: string): boolean {
	return URL.canParse(http) && /^https?:$/.test(new URL(http).protocol);
}

/** moveTo goes on at another node, with the same view. */
export function moveTo({ http }: Elsewhere): void {
	location.assign(`${new URL(http).origin}/console/${location.hash}`);
}

/** Whether the page is looked at. One that is not costs its node nothing. */
export const awake = signal(!document.hidden);

const drowsy = 10_000; // ms from when the page is hidden

/** watchSight keeps awake up to date. */
export function watchSight(): void {
	let timer: ReturnType<typeof setTimeout>;
	const look = () => {
		clearTimeout(timer);
		if (document.hidden) timer = setTimeout(() => (awake.value = false), drowsy);
		else awake.value = true;
	};
	document.addEventListener("visibilitychange", look);
	// A browser keeps the page that it leaves for a while, with the connections of its streams,
	// of which it has only six to each node: after three locks it could not load another page.
	addEventListener("pagehide", () => {
		clearTimeout(timer);
		awake.value = false;
	});
	addEventListener("pageshow", look);
	look();
}

/** until waits until something is true, or rejects if that is no longer wanted. */
export async function until(is: () => boolean, signal: AbortSignal): Promise<void> {
	signal.throwIfAborted();
	let leave = (): void => {};
	try {
		await new Promise<void>((resolve, reject) => {
			const stop = effect(() => {
				if (is()) resolve();
			});
			const drop = () => reject(signal.reason as Error);
			signal.addEventListener("abort", drop);
			leave = () => {
				stop();
				signal.removeEventListener("abort", drop);
			};
		});
	} finally {
		leave();
	}
}
