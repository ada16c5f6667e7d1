// Why each process waits, in whole sentences: as many as there is room for.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Doc } from "./document";
import { frameAt, midStep } from "./frames";
import { whenResized } from "./look";
import { edges, useEdges } from "./scroll";
import { cursor, mode, quizzing } from "./shown";

const mostReasons = 4;
const most = 106; // pixels: more would be taken from the picture
const mostOfPresentation = 300; // with large type, and no states beside them
const mostOfGraph = 150; // its picture needs less
const line = 23; // height, in pixels, of the line that says how many more wait
const least = 180; // minimum height of the picture above, in pixels, as in app.css

export function Why({ d }: { d: Doc }) {
	const frame = frameAt(d, cursor.value);
	const mid = midStep(d, cursor.value);
	const waiting = mid ? [] : frame.waits.map((w, i) => ({ i, w })).filter(({ w }) => w !== "");
	const said = waiting.slice(0, mostReasons);
	const cycles = d.graph?.findLast((g) => g.event <= cursor.value)?.cycles ?? [];
	const { list, inner, fit } = useWhole(`${cursor.value} ${said.map(({ w }) => w).join()}`, { most: mode.value === "present" || mode.value === "notes" ? mostOfPresentation : d.kind === "graph" ? mostOfGraph : most, waiting: waiting.length });
	const more = waiting.length - Math.min(fit.value.reasons, said.length);
	return (
		<div class="why" aria-live="off">
			<div class="scroller fits">
				<div class={fit.value.whole ? "why-list" : "why-list scrolls"} ref={list} style={{ maxHeight: `${fit.value.high}px` }} onScroll={(e) => edges(e.currentTarget)()}>
					<div ref={inner}>
						{cycles.map((c) => <p key={c.join()} class="cycle">{[...c, c[0]!].map((i) => d.names[i]).join(" → ")}: {d.kind === "graph" ? "a cycle: each asks for what the next one holds." : "each waits for the next, forever."}</p>)}
						{d.kind === "graph" && <p>{cursor.value < d.events.length ? "Step through it: processes that can get everything they ask for end, one after the other." : d.events.at(-1)!.text}</p>}
						{said.map(({ i, w }) => <p key={i} class="reason"><b>{d.names[i]}</b> {w}.</p>)}
						{mid && <p class="soft">In the middle of a step.{!quizzing.value && ` Next: ${d.events[cursor.value]!.text}`}</p>}
						{!mid && waiting.length === 0 && cycles.length === 0 && <p class="soft advice">No process waits. Click a process or a message: what you choose becomes a line.</p>}
					</div>
				</div>
			</div>
			{more > 0 && <p class="soft more">{more < waiting.length && "and "}{more} {more < waiting.length && "more "}{more === 1 ? "waits" : "wait"}{mode.value === "" && ": see the states"}</p>}
		</div>
	);
}

/**
 * useWhole finds how many reasons there is room for, and how high they are. Everything
 * else is there in any case: if even that is too high, it can be scrolled.
 */
function useWhole(said: string, now: { most: number; waiting: number }) {
	const list = useRef<HTMLDivElement>(null);
	const inner = useRef<HTMLDivElement>(null);
	const fit = useSignal({ reasons: mostReasons, high: now.most, whole: true });
	const picture = () => list.current!.closest(".scene")!.querySelector(".picture")!;
	const bound = useRef(now);
	bound.current = now;
	const measure = () => {
		const free = list.current!.clientHeight + picture().clientHeight - least + (list.current!.closest(".why")!.querySelector(".more") ? line : 0);
		const room = Math.max(0, Math.min(bound.current.most, free));
		const all = [...inner.current!.children] as HTMLElement[];
		const top = inner.current!.offsetTop;
		const bottom = (p: HTMLElement | undefined) => (p ? p.offsetTop + p.offsetHeight - top + 2 : 0);
		const within = (high: number) => all.filter((p) => p.className === "reason" && bottom(p) <= high);
		const limit = within(room).length === bound.current.waiting ? room : Math.max(0, room - line);
		const reasons = within(limit);
		const high = bottom(reasons.at(-1) ?? all.findLast((p) => p.className !== "reason"));
		const next = { reasons: reasons.length, high: Math.min(high, limit), whole: high <= limit };
		return () => {
			const { reasons, high, whole } = fit.value;
			if (reasons !== next.reasons || high !== next.high || whole !== next.whole) fit.value = next;
		};
	};
	useLayoutEffect(() => {
		const ends = [inner.current!, picture()].map((it) => whenResized(it, measure));
		return () => ends.forEach((end) => end());
	}, []);
	useEffect(() => measure()(), [said]); // sentences may change places without a change in total height
	useEdges(list);
	return { list, inner, fit };
}
