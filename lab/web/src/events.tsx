// The list of events: the run in words, which is also what a screen reader gets. Only the
// visible rows exist.

import { effect, signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import type { Doc } from "./document";
import { reasons } from "./rules";
import { Moves } from "./moves";
import { embedded } from "./present";
import { Scroll, useRows } from "./scroll";
import { cursor, doc, hover, playing, seek, speed, step } from "./shown";
import { clockOf, numberOf, stepBefore } from "./story";

const row = 24; // pixels

/** Whether what can happen next is shown instead of what happens. */
const ahead = signal(false);

export function Events() {
	const d = doc.value;
	return (
		<section class="events" aria-label="events">
			<h2>
				Events
				{d && d.kind !== "graph" && !embedded && <span class="choice" role="group" aria-label="what is listed">
					<button type="button" aria-pressed={!ahead.value} onClick={() => (ahead.value = false)} title="what happens in this run">this run</button>
					<button type="button" aria-pressed={ahead.value} onClick={() => (ahead.value = true)} title="what can happen next, to walk through the states">next moves</button>
				</span>}
			</h2>
			{d && (ahead.value && d.kind !== "graph" ? <Moves d={d} /> : <List d={d} />)}
			<Said />
		</section>
	);
}

const mostSaid = 8; // events of a step

/**
 * Said announces to screen readers what has just happened: the whole step. Playback that
 * is too fast to be read out is not announced.
 */
function Said() {
	const d = doc.value;
	const at = cursor.value;
	if (playing.value && speed.value > 1) return <p class="unseen" role="log" aria-live="polite" />;
	const step = d ? d.events.slice(stepBefore(d, at), at) : [];
	const more = step.length - mostSaid;
	return (
		<p class="unseen" role="log" aria-live="polite">
			{step.length === 0 ? "before the first event" : step.slice(0, mostSaid).map((e) => e.text).join(" ")}
			{more > 0 && ` And ${more} more.`}
		</p>
	);
}

function List({ d }: { d: Doc }) {
	const { ref, top, high, from, to } = useRows(d.events.length, row);
	useLayoutEffect(() => {
		let frame = 0;
		const stop = effect(() => {
			const to = follow(cursor.value, top.peek(), high.peek());
			if (to < 0) return;
			top.value = to; // so that the rows exist before it is scrolled to them
			cancelAnimationFrame(frame);
			frame = requestAnimationFrame(() => (ref.current!.scrollTop = top.value = to)); // a scroll of the old list may have come between
		});
		return () => {
			cancelAnimationFrame(frame);
			stop();
		};
	}, []);
	const all = d.events.length * row; // plus the space that makes the first visible row a whole one at the end, too
	const rows = [];
	for (let i = from; i < to; i++) rows.push(<Line key={i} d={d} i={i} state={i === cursor.value - 1 ? "current" : i >= cursor.value ? "later" : ""} />);
	return (
		<Scroll inner={ref} label="list of events; up and down go from one to the next" onScroll={(e) => (top.value = e.scrollTop)} onKeyDown={walk}>
			<ol style={{ height: `${all + (all > high.value ? high.value % row : 0)}px`, paddingTop: `${from * row}px` }}>{rows}</ol>
		</Scroll>
	);
}

function Line({ d, i, state }: { d: Doc; i: number; state: string }) {
	const e = d.events[i]!;
	const when = d.steps ? numberOf(d, i) : clockOf(d, e.at);
	return useMemo(() => (
		<li aria-setsize={d.events.length} aria-posinset={i + 1} aria-current={state === "current" ? "step" : undefined}>
			<button
				type="button"
				class={`event ${state} ${e.kind}`}
				tabIndex={-1}
				onClick={() => seek(i + 1)}
				onMouseEnter={() => (hover.value = i)}
				onMouseLeave={() => (hover.value = -1)}
			>
				<span class="when">{e.part && i > 0 ? "" : when}</span>
				<span class="what" title={e.why ? `${e.text} ${reasons(e)}` : e.text}>{e.text}{e.line && !e.part ? <i> line {e.line}</i> : null}{e.why && <i> · {reasons(e)}</i>}</span>
			</button>
		</li>
	), [d, i, state]);
}

/** walk goes from event to event. */
function walk(e: KeyboardEvent): void {
	const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
	if (!by) return;
	e.preventDefault();
	step(by);
}

/**
 * follow returns how far to scroll to show the event that has just happened; -1 if it is
 * visible. It does not query the element's position, which would force a layout of the
 * page.
 */
function follow(at: number, top: number, high: number): number {
	const y = Math.max(0, at - 1) * row;
	return y < top || y + row > top + high ? Math.max(0, y - Math.floor(high / 2 / row) * row) : -1;
}
