// Details of the event under the pointer, and of two events that are compared.

import { type Relations, compare } from "./causality";
import type { Doc } from "./document";
import { withDot } from "./plot";
import { hover, picked } from "./shown";
import { clockOf, storyOf } from "./story";

export function Card({ d, relations }: { d: Doc; relations: Relations | undefined }) {
	const two = picked.value;
	if (!relations && two.length === 0) return null;
	return (
		<div class="card" role="status">
			{relations && <About d={d} relations={relations} />}
			{two.length === 1 && <p>To see how two events relate, Shift-click another event, or step to it and press c.</p>}
			{two.length === 2 && <p class="relate">{compare(d, two[0]!, two[1]!, (event) => withDot(d.layout, event))}</p>}
		</div>
	);
}

function About({ d, relations }: { d: Doc; relations: Relations }) {
	const event = hover.value;
	const e = d.events[event];
	if (!e) return null;
	const together = withDot(d.layout, event).filter((i) => storyOf(d).stepOf[i] === storyOf(d).stepOf[event]);
	const sent = d.events.slice(0, event + 1).reduce((n, x) => n + (x.kind === "send" ? 1 : 0), 0);
	const vector = relations.vector.length <= 12 ? `, vector (${relations.vector.join(", ")})` : "";
	return (
		<>
			<p>
				<strong>{together.map((i) => d.events[i]!.text).join(" ")}</strong> {d.steps ? "Event" : `At ${clockOf(d, e.at)}, event`} {event + 1}{vector}
				{e.line ? `, line ${e.line}` : ""}
			</p>
			<p class="soft">
				Its past is bold, its future is outlined, and concurrent events are faded. Messages so far: {sent}.
			</p>
		</>
	);
}
