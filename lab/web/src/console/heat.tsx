// Messages between members as a heat map, with the numbers.

import { useSignal } from "@preact/signals";
import { compact, count, rate } from "./format";
import { Name, plain } from "./name";
import { at } from "./patch";
import type { Traffic } from "./views";

export function Heat({ traffic, names }: { traffic: Record<string, Record<string, Traffic>>; names: string[] }) {
	const what = useSignal<"rate" | "sent">("rate");
	const value = (from: string, to: string) => at(at(traffic, from), to)?.[what.value];
	const most = Math.max(0, ...names.flatMap((from) => names.map((to) => value(from, to) ?? 0)));
	if (Object.keys(traffic).length === 0) return <p class="nothing">No message was counted yet.</p>;
	return (
		<>
			<p class="choice" role="group" aria-label="what is counted">
				<button type="button" aria-pressed={what.value === "rate"} onClick={() => (what.value = "rate")}>per second</button>
				<button type="button" aria-pressed={what.value === "sent"} onClick={() => (what.value = "sent")}>in all</button>
			</p>
			<div class="wide" tabIndex={0} role="group" aria-label="messages between members, a table">
				<table class="heat">
					<caption class="unseen">Messages about locks {what.value === "rate" ? "per second" : "since both are members"}, from the member of the row to that of the column</caption>
					<thead><tr><td /> {names.map((to) => <th key={to} scope="col"><Name of={to} cut /></th>)}</tr></thead>
					<tbody>
						{names.map((from) => (
							<tr key={from}>
								<th scope="row"><Name of={from} cut /></th>
								{names.map((to) => {
									const n = value(from, to);
									const both = at(at(traffic, from), to);
									if (from === to) return <td key={to} class="self"><span class="unseen">itself</span></td>;
									// The colour says the order of magnitude; the number says the rest.
									const part = n && most > 0 ? Math.max(0.08, Math.log1p(n) / Math.log1p(most)) : 0;
									return <td key={to} style={{ "--part": `${Math.round(part * 100)}%` }} class={part > 0.55 ? "hot" : ""} title={both && `${plain(from)} → ${plain(to)}: ${rate(both.rate)}/s, ${count(both.sent)} in all`}>{n === undefined ? "–" : what.value === "rate" ? rate(n) : compact(n)}</td>;
								})}
							</tr>
						))}
					</tbody>
				</table>
			</div>
		</>
	);
}
