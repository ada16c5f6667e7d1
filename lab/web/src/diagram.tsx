// The space-time diagram: its plot, and what is around that.

import { Badges } from "./badges";
import { fitted, Plot, unfolded } from "./canvas";
import { Captions } from "./caption";
import type { Doc } from "./document";
import { folded } from "./fold";
import { Legend } from "./legend";
import { Minimap } from "./minimap";
import { quiz } from "./quiz";
import { doc, quizzing, spacing } from "./shown";
import { fault, space } from "./state";
import { Whole } from "./whole";

export function Diagram() {
	const d = fitted.value;
	const byEvent = spacing.value === "event";
	return (
		<section class="diagram" data-tour="diagram" aria-label="space and time">
			<h2>
				{d && !d.layout ? "The graph" : "Space and time"}
				{(!d || d.layout) && <span class="choice" role="group" aria-label="spacing">
					<button type="button" aria-pressed={!byEvent} onClick={() => space("time")} title="space events by their times (t)">by time</button>
					<button type="button" aria-pressed={byEvent} onClick={() => space("event")} title="space all steps evenly (t)">by event</button>
				</span>}
				{doc.value?.layout && folded(doc.value) !== doc.value && <button type="button" class="link predict" onClick={() => (unfolded.value = !unfolded.value)} title="processes that only answer lie close together">{unfolded.value ? "fold" : "unfold"}</button>}
				{d && d.layout && !quizzing.value && (d.kind === "lock" || d.algorithm.calls) && <button type="button" class="link predict" onClick={quiz} title="quiz: which process enters next? (q)">predict</button>}
			</h2>
			{d && <Captions d={d} />}
			{d?.layout && d.events.length > 0 ? <Plot d={d} /> : <Still d={d} />}
			<Badges />
			{d?.layout && <Legend d={d} />}
			{d?.layout && d.events.length > 0 && <Minimap d={d} />}
		</section>
	);
}

/** Still is shown if nothing runs. */
function Still({ d }: { d: Doc | undefined }) {
	if (d?.kind === "graph") return <Whole d={d} />;
	if (!d) return <p class="plot empty">{fault.value && "This text has an error, so there is no diagram yet. Correct the error, or open something else from the gallery."}</p>;
	return <p class="plot empty">Nothing happens in this scenario yet: click a process to make it ask, or write a line.</p>;
}
