// What the page has to say: what is out of reach, and what a click came to.

import { dialog, doc, lab, link, notice } from "./state";

/** Messages lie over the page, or over the dialog that lies over it. */
export function Messages() {
	const { value } = link;
	const cut = dialog.value === "" ? doc.value?.cut : undefined;
	return (
		<div class="messages" role="status">
			{value.state === "lost" && <p class="lost">The lab is out of reach ({value.why}): {lab.advice} Trying again.</p>}
			{notice.value && (
				<p class="notice">
					{notice.value} <button type="button" class="link" onClick={() => (notice.value = "")}>close</button>
				</p>
			)}
			{cut && <p class="notice">{cut.text}</p>}
		</div>
	);
}
