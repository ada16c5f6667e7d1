// The rules of the algorithm. Those that the last step followed are marked, and a click
// goes to where a rule is followed next.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Doc } from "./document";
import "./rules.css";
import { cursor, seek } from "./shown";
import { stepBefore } from "./story";

const chosen = signal(false); // whether the rules are shown instead of the measures

/** showsRules returns whether the rules are shown. */
export function showsRules(d: Doc): boolean {
	return chosen.value && ruled(d);
}

/** ruled returns whether there are rules to show. */
function ruled(d: Doc): boolean {
	return !!d.algorithm?.rules?.length && d.events.some((e) => e.why);
}

/** RulesChoice chooses between the measures and the rules. */
export function RulesChoice({ d }: { d: Doc }) {
	if (!ruled(d)) return null;
	return (
		<span class="choice" role="group" aria-label="measures or rules">
			<button type="button" aria-pressed={!chosen.value} onClick={() => (chosen.value = false)} title="what was measured, beside theory">measures</button>
			<button type="button" aria-pressed={chosen.value} onClick={() => (chosen.value = true)} title="the rules of the algorithm, and which are followed">rules</button>
		</span>
	);
}

export function Rules({ d }: { d: Doc }) {
	const rules = d.algorithm.rules ?? [];
	const at = cursor.value;
	const now = new Map(d.events.slice(stepBefore(d, at), at).flatMap((e) => e.why ?? []));
	const list = useRef<HTMLUListElement>(null);
	useLayoutEffect(() => bringIntoView(list.current?.querySelector(".followed")), [at]);
	return (
		<ul class="rules" ref={list}>
			{rules.map(([id, text]) => {
				const next = followed(d, id, at);
				return (
					<li key={id} class={now.has(id) ? "followed" : next < 0 ? "never" : ""} aria-current={now.has(id) ? "step" : undefined}>
						<button type="button" disabled={next < 0} title={next < 0 ? "not followed in this run" : "go to where it is followed next"} onClick={() => seek(next + 1)}>
							<b>{id}</b> {text}
						</button>
						{now.has(id) && <p>{now.get(id)}</p>}
					</li>
				);
			})}
		</ul>
	);
}

/** bringIntoView scrolls the list, and nothing else, as far as a rule needs it. */
function bringIntoView(rule: Element | null | undefined): void {
	const box = rule?.closest(".scroll");
	if (!rule || !box) return;
	const [inner, outer] = [rule.getBoundingClientRect(), box.getBoundingClientRect()];
	if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
	if (inner.top < outer.top || inner.height > outer.height) box.scrollTop += inner.top - outer.top;
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
