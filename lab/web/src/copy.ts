// Copying to the clipboard.

import { signal } from "@preact/signals";
import { refused } from "./backend";
import { notice } from "./shown";
import { lab, text } from "./state";

/** What could not be copied, to be copied by hand; empty if nothing. */
export const byHand = signal("");

/** copy puts text on the clipboard and says so; what is its name. */
export async function copy(words: string, what: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(words);
		byHand.value = "";
		notice.value = `${what} is on the clipboard.`;
	} catch {
		byHand.value = words;
		notice.value = `The browser does not let this page use the clipboard. Copy it by hand from the field below the scenario.`;
	}
}

/** copyCommand copies the command line that replays the scenario. */
export async function copyCommand(): Promise<void> {
	const answer = await lab.call<{ data: string }>("export", { text: text.value, as: "command" });
	if (refused(answer)) notice.value = `No command line can be made: ${answer.error.text}`;
	else await copy(answer.data, "The command line (save the scenario under the name in it)");
}
