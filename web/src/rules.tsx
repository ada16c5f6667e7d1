// The rules of the algorithm. Those that the last step followed are marked, and a click
// goes to where a rule is followed next.

import type { Doc } from "./document";
import "./rules.css";
import { cursor, seek } from "./state";
import { stepBefore } from "./story";

export function Rules({ d }: { d: Doc }) {
	const rules = d.algorithm.rules ?? [];
	if (rules.length === 0 || !d.events.some((e) => e.why)) return null;
	const at = cursor.value;
	const now = new Map(d.events.slice(stepBefore(d, at), at).flatMap((e) => e.why ?? []));
	return (
		<section class="rules" aria-label="rules of the algorithm">
			<h3>Rules</h3>
			<ul>
				{rules.map(([id, text]) => {
					const next = followed(d, id, at);
					return (
						<li key={id} class={now.has(id) ? "now" : next < 0 ? "never" : ""} aria-current={now.has(id) ? "step" : undefined}>
							<button type="button" disabled={next < 0} title={next < 0 ? "not followed in this run" : "go to where it is followed next"} onClick={() => seek(next + 1)}>
								<b>{id}</b> {text}
							</button>
							{now.has(id) && <p>{now.get(id)}</p>}
						</li>
					);
				})}
			</ul>
		</section>
	);
}

/** reasons is why a process does what follows an event, on one line. */
export function reasons(e: Doc["events"][number]): string {
	return (e.why ?? []).map(([rule, text]) => `${rule}: ${text}`).join("; ");
}

/** followed returns the next event after which a rule is followed, or the first; -1 if there is none. */
function followed(d: Doc, id: string, at: number): number {
	const is = (e: Doc["events"][number]) => e.why?.some(([rule]) => rule === id) ?? false;
	const next = d.events.findIndex((e, i) => i >= at && is(e));
	return next < 0 ? d.events.findIndex(is) : next;
}
