// The requests that wait for a lock, in order. There may be thousands: only those that can be
// seen exist.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { useRows } from "../scroll";
import { ask, moving } from "./actions";
import { Age, Demand, Who } from "./bits";
import { hello } from "./contact";
import { count } from "./format";
import { memo } from "./memo";
import { Name, plain } from "./name";
import type { Waiter } from "./views";

const high = 62; // height of a row, as in locks.css

export function Queue({ all }: { all: Waiter[] }) {
	const { ref, top, from, to } = useRows(all.length, high);
	const chosen = useSignal(-1);
	const list = useRef<HTMLOListElement>(null);
	if (all.length === 0) return <p class="nothing">No request waits.</p>;
	const choose = (i: number) => {
		const box = ref.current!;
		chosen.value = Math.max(0, Math.min(all.length - 1, i));
		const y = chosen.value * high;
		if (y < box.scrollTop) box.scrollTop = y;
		if (y + high > box.scrollTop + box.clientHeight) box.scrollTop = y + high - box.clientHeight;
	};
	return (
		<div
			class="queue scroll"
			ref={ref}
			tabIndex={0}
			role="group"
			aria-label={`${count(all.length)} requests that wait, in order`}
			onScroll={(e) => (top.value = e.currentTarget.scrollTop)}
			onKeyDown={(e) => {
				const page = Math.max(1, Math.floor(e.currentTarget.clientHeight / high) - 1);
				const to = { ArrowDown: chosen.value + 1, ArrowUp: chosen.value - 1, PageDown: chosen.value + page, PageUp: chosen.value - page, Home: 0, End: all.length - 1 }[e.key];
				const w = e.key === "Enter" ? all[chosen.value] : undefined;
				if (e.target !== e.currentTarget || (to === undefined && !w)) return;
				e.preventDefault(); // or Enter would be for the dialog, too
				if (to !== undefined) choose(to);
				else if (w && movable(w)) ask(moving(w));
			}}
		>
			<ol ref={list} style={{ height: `${all.length * high}px` }} start={from + 1}>
				{all.slice(from, to).map((w, k) => <Row key={`${w.node} ${w.session} ${w.since_ms} ${w.who}`} w={w} i={from + k} size={all.length} chosen={from + k === chosen.value} />)}
			</ol>
		</div>
	);
}

/** movable returns whether the session of a request can be moved, and the reader may do that. */
function movable(w: Waiter): boolean {
	return hello.value?.administers === true && Boolean(w.session);
}

interface RowProps {
	w: Waiter;
	i: number;
	size: number;
	chosen: boolean;
}

const Row = memo(({ w, i, size, chosen }: RowProps) => (
	<li style={{ top: `${i * high}px` }} class={chosen ? "chosen" : ""} aria-posinset={i + 1} aria-setsize={size}>
		<span class="queue-number">{count(i + 1)}</span>
		<span class="queue-who"><Who of={w} cut /> <Demand of={w} /></span>
		<span class="queue-for"><Age since={w.since_ms} /></span>
		<span class="queue-why soft"><Name of={w.why ? `at ${w.node} · ${w.why}` : `at ${w.node}`} title={plain(w.why ?? "")} /></span>
		{movable(w) && <button type="button" class="link small" tabIndex={-1} title="move the session of this client to another node (Enter)" onClick={() => ask(moving(w))}>move …</button>}
	</li>
));
