// What the page has to say: what is out of reach, and the result of a click.

import { signal } from "@preact/signals";
import type { Doc } from "./document";
import { doc, notice } from "./shown";
import { dialog, lab, link } from "./state";

/** The document whose early end has been acknowledged. */
const known = signal<Doc | undefined>(undefined);

/** Messages lie over the page, or over the dialog that lies over it. */
export function Messages() {
	const { value } = link;
	const ended = dialog.value === "" && known.value !== doc.value ? doc.value?.cut?.text ?? doc.value?.early : undefined;
	return (
		<div class="messages" role="status">
			{value.state === "lost" && <p class="lost">The lab cannot be reached ({value.why}): {lab.advice} Retrying.</p>}
			{notice.value && (
				<p class="notice">
					{notice.value} <button type="button" class="link" onClick={() => (notice.value = "")}>close</button>
				</p>
			)}
			{ended && (
				<p class="notice">
					{ended} <button type="button" class="link" onClick={() => (known.value = doc.value)}>close</button>
				</p>
			)}
		</div>
	);
}
