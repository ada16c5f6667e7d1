// The captions of a scenario: text for the audience, as the run passes.

import { Press } from "./press";
import type { Caption, Doc } from "./document";
import { cursor, doc, mode, notice, seek } from "./shown";

/** captionAt returns the last caption whose moment has come. */
export function captionAt(d: Doc, at: number): Caption | undefined {
	return d.captions?.findLast((c) => c.event <= at);
}

/** toCaption goes to the next caption or, backwards, to the one before; it says if there is none. */
export function toCaption(by: 1 | -1): void {
	const all = doc.value?.captions ?? [];
	const to = by > 0 ? all.find((c) => c.event > cursor.value) : all.findLast((c) => c.event < cursor.value);
	if (to) seek(to.event);
	else notice.value = all.length > 0 ? `There is no caption ${by > 0 ? "after" : "before"} this.` : 'This scenario has no captions: add a line such as say "P2 asks first."';
}

/** Captions shows the current caption, and in a presentation, if wanted, the notes. */
export function Captions({ d }: { d: Doc }) {
	const all = d.captions ?? [];
	if (all.length === 0) return null;
	const now = captionAt(d, cursor.value);
	const number = now ? all.indexOf(now) + 1 : 0;
	return (
		<div class="caption" role="group" aria-label="caption">
			<Press idle={!all.some((c) => c.event < cursor.value)} label="caption before" title="caption before (S)" onClick={() => toCaption(-1)}>‹</Press>
			<p role="status">{now?.text ?? ""}</p>
			<small>{number} of {all.length}</small>
			<Press idle={!all.some((c) => c.event > cursor.value)} label="next caption" title="next caption (s)" onClick={() => toCaption(1)}>›</Press>
			{mode.value === "notes" && (
				<ol class="notes" aria-label="speaker notes">
					{all.slice(number, number + 3).map((c) => <li key={`${c.event} ${c.line}`} value={all.indexOf(c) + 1}>{c.text}</li>)}
				</ol>
			)}
		</div>
	);
}
