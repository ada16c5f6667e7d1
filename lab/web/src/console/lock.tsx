// One lock: who has it, who waits and why, and what its algorithm does.

import type { JSX } from "preact";
import { ask, moving, releasing } from "./actions";
import { Age, Ago, Delegated, Demand, Left, Moment, Panel, Quiet, Trouble, Who, delegation } from "./bits";
import { present } from "./clock";
import { hello } from "./contact";
import { useFeed } from "./feed";
import { count, duration, rate, some } from "./format";
import { Name } from "./name";
import { ordered } from "./patch";
import { Queue } from "./queue";
import { Trail } from "./trail";
import type { Holder, Lock as Doc, Past } from "./views";

export function Lock({ name }: { name: string }) {
	const feed = useFeed<Doc>("lock", { name });
	const d = feed.doc.value;
	const holders = Object.entries(d?.holders ?? {}).sort(([, a], [, b]) => a.since_ms - b.since_ms);
	const waiters = d ? ordered(d.waiters, d.order) : [];
	return (
		<div class="lock-view">
			<div class="lock-head">
				<h1><Name of={name} /></h1>
				{d && <About d={d} />}
				{d?.yours && <button type="button" class="breaks" disabled={holders.length === 0} title={holders.length === 0 ? "it is free" : "take it from its holder"} onClick={() => ask(releasing(d))}>Force-release …</button>}
			</div>
			<Trouble why={feed.trouble.value} />
			<Quiet silent={d?.silent} />
			<div class="lock-parts">
				<div class="lock-side">
					<Panel title={holders.length > 1 ? "Holders" : "Holder"} aside={holders.length > 1 ? count(holders.length) : undefined}>
						{d && holders.length === 0 && <p class="nothing">{waiters.length > 0 ? "No process holds it at present." : "It is free."}</p>}
						<div class="holders">{holders.map(([key, h]) => <HolderCard key={key} h={h} />)}</div>
					</Panel>
					<Panel title="Queue" class="queue-part" aside={d && <>{some(waiters.length, "request")}{d.unlisted ? ` and ${count(d.unlisted)} more that are not listed` : ""}</>}>
						{d && <Queue all={waiters} />}
					</Panel>
				</div>
				<Trail name={name} />
				<Panel title="Past holders" class="past" aside="the last ones, at all members">{d && <Pasts all={Object.entries(d.history ?? {}).sort(([, a], [, b]) => b.to_ms - a.to_ms)} />}</Panel>
			</div>
		</div>
	);
}

function About({ d }: { d: Doc }) {
	return (
		<ul class="chips" aria-label="lock">
			{d.algorithm && <li>algorithm <b><Name of={d.algorithm} /></b></li>}
			{d.kept && <li title="its queue is kept at its home, so that it can be shared, or be a part of a transaction">kept</li>}
			{d.home && <li title="the member that knows of all requests for it">home <b><Name of={d.home} /></b></li>}
			{d.rate !== undefined && <li><b>{rate(d.rate)}</b> per second</li>}
			{d.acquired !== undefined && <li>acquired <b>{count(d.acquired)}</b> {d.acquired === 1 ? "time" : "times"}</li>}
		</ul>
	);
}

function HolderCard({ h }: { h: Holder }): JSX.Element {
	return (
		<article class="holder">
			<header>
				<p><Who of={h} /> <Demand of={h} /><Delegated of={h} /></p>
				{hello.value?.administers && h.session ? <button type="button" class="small" title="move the session of this client to another node" onClick={() => ask(moving(h))}>Move …</button> : null}
			</header>
			<dl>
				<div><dt>node</dt><dd><Name of={h.node} />{h.session ? <span class="soft"> session {h.session}</span> : <span class="soft"> the node's own process</span>}</dd></div>
				<div><dt>fencing token</dt><dd class="token-of"><Name of={h.token} />{h.delegated && <span class="soft"> or a later one</span>}</dd></div>
				<div><dt>held for</dt><dd><Age since={h.since_ms} /> <span class="soft">since <Moment at={h.since_ms} /></span></dd></div>
				{h.lease_until_ms !== undefined && <div><dt title="time until the lock can be acquired by another if nothing renews the lease">lease left</dt><dd><Left until={h.lease_until_ms} span={spanOf(h.lease_until_ms)} /></dd></div>}
				{h.value !== undefined && <div><dt>value</dt><dd><Name of={h.value} /></dd></div>}
			</dl>
			{h.delegated && <p class="soft small">{delegation} The token is that of its first entry.</p>}
		</article>
	);
}

const spans = new Map<number, number>(); // of the last few leases

/** spanOf returns how long a lease was when it was first seen: its bar is then full. */
function spanOf(until: number): number {
	let span = spans.get(until);
	if (span === undefined) {
		span = Math.max(1, ...spans.values(), (until - present()) / 1000);
		if (spans.size > 50) spans.clear();
		spans.set(until, span);
	}
	return span;
}

function Pasts({ all }: { all: [string, Past][] }) {
	if (all.length === 0) return <p class="nothing">No hold has ended lately.</p>;
	return (
		<div class="wide" tabIndex={0} role="group" aria-label="past holders, a table">
			<table class="pasts" role="table">
				<thead><tr role="row"><th scope="col">holder</th><th scope="col">node</th><th scope="col" class="number">token</th><th scope="col" class="number">held for</th><th scope="col">ended</th><th scope="col">how</th></tr></thead>
				<tbody>
					{all.map(([key, p]) => (
						<tr key={key} role="row" class={p.end === "released" ? "" : "is-odd"}>
							<th scope="row"><Who of={p} cut /></th>
							<td><Name of={p.node} cut /></td>
							<td class="number token-of"><Name of={p.token} /></td>
							<td class="number">{duration((p.to_ms - p.from_ms) / 1000)}</td>
							<td><Ago at={p.to_ms} /></td>
							<td><Name of={p.end} class={p.end === "released" ? "soft" : "off"} /></td>
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}
