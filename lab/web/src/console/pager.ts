// The pages of a list of locks.

import { signal } from "@preact/signals";
import { go } from "./route";

/** The fragments of the addresses of the pages around this one; undefined if there is none. */
export const page = signal<{ before: string | undefined; next: string | undefined }>({ before: undefined, next: undefined });

/** flip goes to a page. */
export function flip(to: string | undefined): void {
	if (to !== undefined) go(to);
}
