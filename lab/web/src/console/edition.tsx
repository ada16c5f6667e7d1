// A page that stays open while its node is upgraded is older than what it talks to.

import { signal } from "@preact/signals";
import { headers, known, reach } from "./contact";

/** Whether the node now serves another version of this page. */
const outdated = signal(false);
let opened: string | undefined; // the tag of the page as it was when it was opened

/** compare looks for another version of this page. */
export async function compare(signal: AbortSignal): Promise<void> {
	const response = await reach("console.js", { method: "HEAD", headers: headers(), signal });
	const tag = response.ok && response.headers.get("ETag");
	if (!tag) return;
	opened ??= tag;
	outdated.value = tag !== opened;
}

export function Outdated() {
	if (!outdated.value) return null;
	return (
		<div class="notice warn outdated" role="status">
			<p>The node now serves another version of this page, and this one may show it wrongly. <button type="button" class="link" onClick={() => location.reload()}>Load the page again</button>{known() ? "" : ": it will ask for the token again"}.</p>
		</div>
	);
}
