// The address of the page holds its text and its cursor: see packed.ts. None of it is sent
// anywhere.

import { effect } from "@preact/signals";
import { shelf } from "./answers";
import { refused } from "./backend";
import { copy } from "./copy";
import { flush, unsaid } from "./editor";
import { type Shared, fragment, longest, unpack } from "./packed";
import { cursor, mode, notice } from "./shown";
import { type Kept, branches, dialog, edit, keep, lab, opened, prepared, restore, text } from "./state";

/** addressOf returns the address of a text and a cursor. */
export async function addressOf(it: Shared): Promise<URL> {
	const url = new URL(location.href);
	url.hash = await fragment(it);
	return url;
}

/** share copies the address of what is shown. */
export async function share(): Promise<void> {
	const url = await addressOf({ text: text.value, cursor: cursor.value });
	if (url.href.length > longest) {
		notice.value = `The text is too long for an address (${url.href.length.toLocaleString("en")} characters, but some programs cut addresses off after ${longest.toLocaleString("en")}): export the scenario and send the file.`;
		return;
	}
	await copy(url.href, "The address of what you see");
}

/**
 * begin opens what the address holds, or else the file that the lab was started with, or
 * else the gallery. From then on the address follows what is shown.
 */
export async function begin(): Promise<void> {
	addEventListener("popstate", () => visits++);
	addEventListener("hashchange", () => void openAddress());
	if (!(await openAddress())) await openStart();
	if (location.protocol !== "file:") follow();
}

/**
 * openAddress opens what the address holds, and returns whether there was anything, good
 * or broken.
 */
async function openAddress(): Promise<boolean> {
	if (written !== "" && location.hash === written) return true;
	const [hash, kept] = [location.hash, keptIn(history.state)];
	opening++;
	try {
		const it = await unpack(hash);
		if (!it) return false;
		[written, entered] = [hash, opened.value];
		dialog.value = "";
		flush(); // so that undo can return to what was being typed
		if (!restore(kept, it.text)) prepared.value = it.text;
		await edit(it.text, { cursor: it.cursor });
	} catch {
		await openStart();
		dialog.value = "gallery";
		notice.value = "The address that you opened is damaged, perhaps cut off: ask for it again, or start with something from the gallery.";
	} finally {
		opening--;
	}
	return true;
}

async function openStart(): Promise<void> {
	if (touched()) return;
	const start = await lab.call<{ text: string }>("start", {});
	if (touched()) return;
	if (!refused(start) && start.text !== "") {
		prepared.value = start.text;
		return void (await edit(start.text, { cursor: 0 }));
	}
	if (mode.value === "embed") return;
	if (dialog.value === "") dialog.value = "gallery";
	const shown = await shelf.fetch();
	const first = refused(shown) ? undefined : shown.groups[0]?.items[0];
	if (!first || touched()) return;
	prepared.value = first.text;
	await edit(first.text, { cursor: 0 });
}

/** keptIn returns the branches in the state of an entry of the history. */
function keptIn(state: unknown): Kept | undefined {
	const it = state as Partial<Kept> | null;
	const good = Array.isArray(it?.branches) && typeof it.at === "number" && it.branches.every((b) => typeof b.text === "string" && typeof b.name === "string" && Number.isSafeInteger(b.id) && Number.isSafeInteger(b.parent) && Number.isSafeInteger(b.cursor));
	return good ? (it as Kept) : undefined;
}

/**
 * touched returns whether the user has opened or typed something, which nothing that
 * arrives late may replace.
 */
function touched(): boolean {
	return text.value !== "" || unsaid();
}

let written = ""; // fragment that this page wrote last
let entered = 0; // document of the entry of the history that was written last
let visits = 0; // how often the user has gone to another entry of the history
let opening = 0; // addresses that are being opened: what is shown does not belong to the entry yet

/** follow updates the address with what is shown, a moment later. */
function follow(): void {
	let timer: ReturnType<typeof setTimeout>;
	effect(() => {
		const it = { text: text.value, cursor: cursor.value };
		void branches.value;
		clearTimeout(timer);
		const visit = visits;
		timer = setTimeout(() => void write(it, visit), 400);
	});
}

async function write(it: Shared, visit: number): Promise<void> {
	const hash = it.text === "" ? "" : await fragment(it);
	if (it.text !== text.value || it.cursor !== cursor.value || visit !== visits || opening > 0) return;
	const url = new URL(location.href);
	url.hash = hash;
	if (url.href.length > longest) url.hash = ""; // what it held is no longer shown
	const next = opened.value !== entered && written !== "" && written !== url.hash;
	[written, entered] = [url.hash, opened.value];
	if (next) history.pushState(small(keep()), "", url);
	else history.replaceState(small(keep()), "", url);
}

const mostState = 500_000; // letters of all branches: browsers limit the state of an entry

/** small leaves out branches that are too large to be kept. */
function small(it: Kept): Kept | null {
	return it.branches.reduce((n, b) => n + b.text.length, 0) > mostState ? null : it;
}
