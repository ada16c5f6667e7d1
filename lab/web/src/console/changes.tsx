// The time line of view changes: what has changed, and why.

import { Ago, Moment } from "./bits";
import { Name } from "./name";
import type { Change } from "./views";

/** The sign of each cause, which says the same as its colour. */
const signs: Record<string, string> = { evict: "×", leave: "−", join: "+", vote: "✓", refresh: "↻", found: "★" };

export function Changes({ history }: { history: Record<string, Change> }) {
	const all = Object.values(history).sort((a, b) => b.epoch - a.epoch);
	if (all.length === 0) return <p class="nothing">No view change is known.</p>;
	return (
		<div class="scroller"><ol class="changes" tabIndex={0} aria-label="view changes, the last one first">
			{all.map((c) => (
				<li key={c.epoch} class={`cause-${c.cause in signs ? c.cause : "other"}`}>
					<i aria-hidden="true">{signs[c.cause] ?? "·"}</i>
					<p><Name of={c.text} /></p>
					<p class="soft small">epoch {c.epoch} · <Name of={c.cause} /> · <Moment at={c.at_ms} />, <Ago at={c.at_ms} /> · {c.members.map((m) => <span key={m}><Name of={m} /> </span>)}</p>
				</li>
			))}
		</ol></div>
	);
}
