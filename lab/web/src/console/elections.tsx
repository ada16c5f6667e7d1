// Elections: locks whose holders have attached a value, by which others find them.

import { Age, Moment, Quiet, Trouble, Who, arrows } from "./bits";
import { useFeed } from "./feed";
import { count } from "./format";
import { Name } from "./name";
import { ordered } from "./patch";
import { toLock } from "./route";
import type { Elections as Doc } from "./views";

export function Elections() {
	const feed = useFeed<Doc>("elections");
	const d = feed.doc.value;
	const all = d ? ordered(d.rows, d.order) : [];
	return (
		<div class="elections">
			<h1 class="unseen">Elections</h1>
			<Trouble why={feed.trouble.value} />
			<Quiet silent={d?.silent} />
			{d && all.length === 0 && <p class="nothing">There is no election at present: none of the holders of a lock has attached a value to it, as <code>stile elect</code> does.</p>}
			{all.length > 0 && (
				<div class="wide">
					<table class="list" role="table" onKeyDown={arrows}>
						<thead><tr role="row"><th scope="col">election</th><th scope="col">leader</th><th scope="col">value</th><th scope="col" class="number" title="fencing token of the leader's lock: it rises with each leader">term</th><th scope="col">node</th><th scope="col" class="number">leads for</th><th scope="col">since</th><th scope="col" class="number">candidates</th></tr></thead>
						<tbody>
							{all.map((r) => (
								<tr key={r.name} role="row">
									<th scope="row" data-of="name"><a data-row href={toLock(r.name)}><Name of={r.name} cut /></a></th>
									<td data-of="leader"><b class="leads" aria-hidden="true">★</b> <Who of={r} cut /></td>
									<td data-of="value">{r.value !== undefined && <Name of={r.value} cut />}</td>
									<td class="number token-of" data-of="term"><Name of={r.term} /></td>
									<td data-of="node"><Name of={r.node} cut /></td>
									<td class="number" data-of="leads for"><Age since={r.since_ms} /></td>
									<td class="soft" data-of="since"><Moment at={r.since_ms} /></td>
									<td class="number" data-of="candidates">{count(r.candidates)}</td>
								</tr>
							))}
						</tbody>
					</table>
				</div>
			)}
		</div>
	);
}
