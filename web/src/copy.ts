// Copying to the clipboard, and saving to a file.

import { signal } from "@preact/signals";
import { notice } from "./state";

/** What could not be copied, to be copied by hand; empty if nothing. */
export const byHand = signal("");

/** copy puts text on the clipboard and says so; what is its name. */
export async function copy(words: string, what: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(words);
		byHand.value = "";
		notice.value = `${what} is on the clipboard.`;
		return true;
	} catch {
		byHand.value = words;
		notice.value = `The browser does not let this page use the clipboard: it stands below the scenario, to be copied by hand.`;
		return false;
	}
}

/** save offers data as a file. */
export function save(name: string, data: Blob): void {
	const url = URL.createObjectURL(data);
	const a = document.createElement("a");
	a.href = url;
	a.download = name;
	a.click();
	setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
