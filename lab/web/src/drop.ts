// A scenario, or the recording of a lock, is opened by dropping its file on the page.

import { flush } from "./editor";
import { notice } from "./shown";
import { dialog, edit, prepared } from "./state";

const largest = 1_048_576; // bytes, as for the command line

/** takeFiles opens files that are dropped. */
export function takeFiles(): void {
	addEventListener("dragover", (e) => {
		if (e.dataTransfer?.types.includes("Files")) e.preventDefault(); // else the browser leaves the page
	});
	addEventListener("drop", (e) => {
		const file = e.dataTransfer?.files[0];
		if (!file) return;
		e.preventDefault();
		void openFile(file);
	});
}

/** openFile shows the scenario in a file. */
async function openFile(file: File): Promise<void> {
	if (file.size > largest) {
		notice.value = `${file.name} is too large for this page: run it with 'stile-lab replay'.`;
		return;
	}
	const text = await file.text().catch(() => undefined);
	if (text === undefined || text.includes("\0")) {
		notice.value = `${file.name} is no scenario: drop a .stile file.`;
		return;
	}
	flush(); // so that undo can return to what was being typed
	dialog.value = "";
	prepared.value = text;
	await edit(text, { cursor: 0 });
}
