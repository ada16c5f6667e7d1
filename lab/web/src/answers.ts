// The answers to the calls of the dialogs, other than run and act: see
// lab/internal/calls.

import { signal } from "@preact/signals";
import { type Refusal, refused } from "./backend";
import { lab } from "./state";

export interface Shelf {
	groups: { title: string; items: Exhibit[] }[];
}

export interface Exhibit {
	file: string;
	title: string;
	sentence: string; // what the title does not say; empty if there is nothing
	text: string;
	words: string; // terms of the glossary that it is about, in every language
	outline?: Outline;
}

/** The processes and links of a group, for a thumbnail; places are from 0 to 1. */
export interface Outline {
	shape: string;
	places: { x: number; y: number }[];
	links: { from: number; to: number }[];
}

export interface Known {
	name: string;
	title: string;
	family: string;
	class: string;
	wrong: string; // what is wrong with it; empty if nothing
	weaker: string; // what it does not promise; empty if nothing
	paper: string;
	least: number; // processes
	most: number; // processes
	network: string; // weakest network on which it is correct
	options: string[]; // words of the head of a scenario that it understands
	lock?: string; // for a lock that survives crashes: its underlying lock,
	after?: string; // and its recovery after a crash
	calls?: string; // what a process that asks does, if not a request that it waits for
	values?: Record<string, string[]>; // values of options that have named values
}

export interface Exported {
	file: string;
	media: string;
	data: string;
}

/** asked is a signal of the answer to a call that is always the same, requested once. */
export function asked<T>(name: string) {
	const answer = signal<T | Refusal | undefined>(undefined);
	let under: Promise<T | Refusal> | undefined;
	return {
		answer,
		/** fetch asks, unless there is a good answer or one is on its way. */
		fetch(): Promise<T | Refusal> {
			return (under ??= lab.call<T>(name, {}).then((got) => {
				if (refused(got)) under = undefined;
				return (answer.value = got);
			}));
		},
	};
}

export const shelf = asked<Shelf>("gallery");
export const known = asked<Known[]>("algorithms");
