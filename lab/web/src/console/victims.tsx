// Transactions that had to abort, and why.

import { Ago, Moment, Who } from "./bits";
import { Name } from "./name";
import { toLock } from "./route";
import type { Victim } from "./views";

/** What each way means. */
const ways: Record<string, string> = {
	cycle: "it was part of a deadlock, and was chosen to end it",
	wound: "an older transaction needed a lock that it held",
	die: "it would have waited for an older transaction",
	timeout: "it had waited too long",
};

export function Victims({ victims }: { victims: Record<string, Victim> }) {
	const all = Object.entries(victims).sort(([, a], [, b]) => b.at_ms - a.at_ms);
	if (all.length === 0) return <p class="nothing">No transaction had to abort.</p>;
	return (
		<ol class="victims" aria-label="transactions that had to abort, the last one first">
			{all.map(([key, v]) => (
				<li key={key}>
					<p class="soft small"><Moment at={v.at_ms} /> · <Ago at={v.at_ms} /></p>
					<p>
						<span class={`tag how-${v.how in ways ? v.how : "other"}`} title={ways[v.how]}><Name of={v.how} /></span> <b><Who of={v} /></b> <span class="soft">tx {v.tx} at <Name of={v.node} /></span>
					</p>
					<p><Name of={v.why} /></p>
					{v.cycle && v.cycle.length > 0 && (
						<p class="cycle-line">
							{v.cycle.map((c, i) => <span key={i}>{i > 0 && <span class="soft"> → </span>}<Name of={`${c.node}/${c.tx}`} />{c.lock && <> <a href={toLock(c.lock)}><Name of={c.lock} /></a></>}</span>)}
						</p>
					)}
				</li>
			))}
		</ol>
	);
}
