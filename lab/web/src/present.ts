// Presenting: the whole screen, large type, and only what an audience needs. An embedded
// page shows the same in a frame of another page.

import { effect } from "@preact/signals";
import { toCaption } from "./caption";
import { backward, forward } from "./controls";
import { cursor, doc, mode } from "./shown";

/** embedded is whether the page shows one run inside another page, or as one file. */
export const embedded = new URLSearchParams(location.search).has("embed") || document.querySelector('meta[name="stile-backend"]')?.getAttribute("content") === "file";

if (embedded) mode.value = "embed";
effect(() => {
	document.documentElement.dataset["mode"] = mode.value;
});

/** present begins or ends a presentation. */
export function present(): void {
	if (embedded) return;
	if (mode.value !== "") return leave();
	mode.value = "present";
	void document.documentElement.requestFullscreen?.().catch(() => {}); // the window is also good
}

/** leave ends a presentation. */
export function leave(): void {
	if (embedded) return;
	mode.value = "";
	if (document.fullscreenElement) void document.exitFullscreen().catch(() => {});
}

/** notes shows or hides the speaker notes of a presentation. */
export function notes(): void {
	if (mode.value === "present") mode.value = "notes";
	else if (mode.value === "notes") mode.value = "present";
}

/**
 * turn goes on as a presenter with one key does: to the next caption or, without captions,
 * one step.
 */
export function turn(by: 1 | -1): void {
	const all = doc.value?.captions ?? [];
	const more = by > 0 ? all.some((c) => c.event > cursor.value) : all.some((c) => c.event < cursor.value);
	if (more) toCaption(by);
	else if (by > 0) forward();
	else backward();
}

addEventListener("fullscreenchange", () => {
	if (!document.fullscreenElement && mode.value !== "embed") mode.value = "";
});
