// Recording what happens to a lock, to be replayed in the lab.

import { type ReadonlySignal, computed, effect, signal } from "@preact/signals";
import { fragment, longest } from "../packed";
import { second } from "./clock";
import { keepToken, known } from "./contact";
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

/** record records a lock, and opens the result in the lab. */
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
	const leave = effect(() => {
		if (text.value !== "" && known()) void open(text.value);
	});
	const stop = () => {
		leave();
		feed.close();
		if (recording.value === mine) recording.value = undefined;
	};
	const mine: Recording = { name, part, words, text, stop };
	recording.value = mine;
}

/** Under this name the lab finds a text that is too long for an address. */
export const handed = "stile-lab-text";

/** open opens a scenario in the lab, which must know who asks. */
export async function open(text: string): Promise<void> {
	keepToken();
	const hash = await fragment({ text, cursor: 0 });
	if (hash.length < longest) {
		location.assign(`../lab/${hash}`);
		return;
	}
	sessionStorage.setItem(handed, text);
	location.assign("../lab/#handed");
}
