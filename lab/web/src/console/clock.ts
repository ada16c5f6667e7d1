// The clock of the node: documents have its moments, and the page shows how long ago these
// were.

import { type ReadonlySignal, signal } from "@preact/signals";

let ahead: number | undefined; // of ours, in ms: the best estimate so far

/** present returns the node's time now, in ms. */
export function present(): number {
	return Date.now() + (ahead ?? 0);
}

/** told learns from a moment of the node that has just arrived, if one has: it was then at least so late there. */
export function told(ms: number | undefined): void {
	if (ms !== undefined) ahead = Math.max(ahead ?? -Infinity, ms - Date.now());
}

/** forget prepares for the clock of another node, or for that of another run of the same. */
export function forget(): void {
	ahead = undefined;
}

/** ticking returns the node's time, which ticks for as long as it is shown. */
function ticking(every: number): ReadonlySignal<number> {
	let timer: ReturnType<typeof setInterval> | undefined;
	const time = signal(present(), {
		watched() {
			time.value = present();
			timer = setInterval(() => (time.value = present()), every);
		},
		unwatched: () => clearInterval(timer),
	});
	return time;
}

/** The time, every second. */
export const second = ticking(1000);
/** The same, more often: for what ends soon. */
export const blink = ticking(200);
