// Whether the backend can be reached.

import { signal } from "@preact/signals";

/** The backend went away, or its worker was terminated, before an answer was complete. */
export class Lost extends Error {
	override name = "Lost";
}

/** The state of the backend: starting, ready, or lost and being looked for. */
export type Link = { state: "starting" } | { state: "ready" } | { state: "lost"; why: string };

/** The current state of the backend. */
export const link = signal<Link>({ state: "starting" });

/** Waits before the next try: longer each time, at most a few seconds. */
export function pause(tries: number, signal?: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		signal?.throwIfAborted();
		const stop = () => {
			clearTimeout(timer);
			reject(signal?.reason as Error);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", stop);
			resolve();
		}, Math.min(4000, 250 * 2 ** tries));
		signal?.addEventListener("abort", stop, { once: true });
	});
}
