// The backend of a page that is one file: it holds one run, and answers nothing else.

import type { Backend, Refusal } from "./backend";
import type { Doc } from "./document";
import { link } from "./link";

/** The run in a file, spaced in both ways. */
export interface Recording {
	text: string;
	time: Doc;
	event: Doc;
}

/** recordingId is the id of the element that holds the run. */
export const recordingId = "stile-run";

export class Recorded implements Backend {
	readonly advice = "this file shows one run.";
	private readonly run = JSON.parse(document.getElementById(recordingId)!.textContent!) as Recording;

	async call<T>(name: string, body: unknown): Promise<T | Refusal> {
		link.value = { state: "ready" };
		if (name === "start") return { text: this.run.text } as T;
		if (name === "run") return this.run[(body as { spacing: "time" | "event" }).spacing] as T;
		return { error: { line: 0, col: 0, text: "This file shows one run: open its scenario in the lab to change it." } };
	}

	async stream<T>(name: string, body: unknown, onLine: (line: T | Refusal) => void): Promise<void> {
		onLine(await this.call<T>(name, body));
	}
}
