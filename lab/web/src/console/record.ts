// Recording what happens to a lock, as a scenario.

import { type ReadonlySignal, computed, signal } from "@preact/signals";
import { second } from "./clock";
import { Feed } from "./feed";
import { some } from "./format";
import type { Trail } from "./views";

const length = 10; // seconds
const most = 2000; // steps

/** A recording that goes on, or has ended. */
export interface Recording {
	name: string;
	part: ReadonlySignal<number>; // of it that is done
	words: ReadonlySignal<string>;
	text: ReadonlySignal<string>; // the scenario, once it is complete
	stop(): void;
}

export const recording = signal<Recording | undefined>(undefined);

/** record records a lock. */
export function record(name: string): void {
	recording.value?.stop();
	const feed = new Feed<Trail>("trail", { name, seconds: String(length) }, false);
	const began = Date.now();
	const text = computed(() => (feed.doc.value?.done ? feed.doc.value.text ?? "" : ""));
	const part = computed(() => {
		second.value;
		const d = feed.doc.value;
		return d?.done ? 1 : Math.min(0.99, Math.max((Date.now() - began) / 1000 / length, (d?.steps ?? 0) / most));
	});
	const words = computed(() => {
		const d = feed.doc.value;
		if (feed.trouble.value) return feed.trouble.value;
		if (!d?.done) return `Recording: ${some(d?.steps ?? 0, "step")} so far`;
		return d.text ? `Recorded ${some(d.steps ?? 0, "step")}` : d.why ?? "Nothing was recorded.";
	});
	const stop = () => {
		feed.close();
		if (recording.value === mine) recording.value = undefined;
	};
	const mine: Recording = { name, part, words, text, stop };
	recording.value = mine;
}
