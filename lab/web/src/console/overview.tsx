// The cluster at a glance.

import { effect, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ask, choosing } from "./actions";
import { Panel, Trouble } from "./bits";
import { Bars, Spark } from "./chart";
import { Changes } from "./changes";
import { present } from "./clock";
import { hello, members } from "./contact";
import { useFeed } from "./feed";
import { compact, count, duration, rate, some } from "./format";
import { Heat } from "./heat";
import { Members, byName } from "./members";
import { Name, short } from "./name";
import { Series } from "./series";
import type { Overview as Doc } from "./views";
import { Victims } from "./victims";

const seen = { rate: new Series(), wait: new Series(), hold: new Series(), waiting: new Series() };

/** note adds what a document says to what the page has seen. */
function note(d: Doc): void {
	members.value = d.members;
	seen.rate.add(d.at_ms, d.rate);
	if (d.wait) seen.wait.add(d.at_ms, d.wait.p99_s);
	if (d.hold) seen.hold.add(d.at_ms, d.hold.p99_s);
	seen.waiting.add(d.at_ms, sum(d, "waiting"));
}

function sum(d: Doc, what: "held" | "waiting" | "clients" | "known"): number {
	return Object.values(d.members).reduce((n, m) => n + (m.error ? 0 : m[what] ?? 0), 0);
}

export function Overview() {
	const feed = useFeed<Doc>("overview");
	const d = feed.doc.value;
	useEffect(() => effect(() => {
		if (feed.doc.value) note(feed.doc.value);
	}), [feed]);
	useEffect(() => () => Object.values(seen).forEach((s) => s.stop(present())), []);
	return (
		<div class="overview">
			<h1 class="unseen">Overview</h1>
			<Trouble why={feed.trouble.value} />
			{d && d.disagree && d.disagree.length > 0 && (
				<div class="notice alarm" role="alert"><p><b>Members disagree.</b></p>{d.disagree.map((it) => <p key={it}><Name of={it} /></p>)}</div>
			)}
			<Tiles d={d} />
			{d && <Parts d={d} />}
		</div>
	);
}

function Parts({ d }: { d: Doc }) {
	return (
		<>
			<Panel title="Members" class="members-part" aside={<Setting d={d} />}><Members d={d} /></Panel>
			<div class="row">
				<Panel title="View changes" aside={<>epoch {d.epoch}</>} class="changes-part"><Changes history={d.history ?? {}} /></Panel>
				<Panel title="Messages about locks" aside="from row to column" class="heat-part"><Heat traffic={d.traffic ?? {}} names={byName(d).map((m) => m.name)} /></Panel>
				<section class="part latency" aria-label="Latencies">
					<h2>Wait <span>from a request to its acquisition</span></h2>
					<Bars of={d.wait_hist} label="Waits" tone="waits" />
					<h2>Hold <span>from an acquisition to its end</span></h2>
					<Bars of={d.hold_hist} label="Holds" tone="holds" />
				</section>
			</div>
			{Object.keys(d.victims ?? {}).length > 0 && <Panel title="Victims" aside="transactions that had to abort"><Victims victims={d.victims!} /></Panel>}
		</>
	);
}

/** Setting is what the cluster has been founded with. */
function Setting({ d }: { d: Doc }) {
	const open = useSignal(false);
	const all = d.algorithm.split(",");
	const few = open.value ? all : all.slice(0, 3);
	return (
		<>
			{few.map((a, i) => <span key={a}>{i > 0 && ", "}<Name of={a} /></span>)}
			{all.length > 3 && <button type="button" class="link" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>{open.value ? " less" : ` and ${all.length - 3} more`}</button>}
			{hello.value?.administers && <> <button type="button" class="small" onClick={() => ask(choosing(d))}>Choose …</button></>}
			{d.ghosts > 0 && <b class="off"> · {some(d.ghosts, "evicted member")} whose {d.ghosts === 1 ? "lease" : "leases"} may still run</b>}
		</>
	);
}

interface TileProps {
	name: string;
	value: ComponentChildren;
	more?: ComponentChildren;
	series?: Series;
	tone?: string;
}

function Tile({ name, value, more, series, tone = "" }: TileProps) {
	return (
		<div class={`tile ${tone}`}>
			<dt>{name}</dt>
			<dd><b>{value}</b> <small>{more}</small></dd>
			{series && <Spark series={series} label={`${name} in the last five minutes`} />}
		</div>
	);
}

function Tiles({ d }: { d: Doc | undefined }) {
	const all = d ? Object.values(d.members) : [];
	const answer = all.filter((m) => !m.error).length;
	const voters = all.filter((m) => m.voter);
	return (
		<dl class="tiles" aria-busy={!d}>
			<Tile name="acquisitions" value={d ? rate(d.rate) : "–"} more="per second" series={seen.rate} />
			<Tile name="wait" value={d?.wait ? duration(d.wait.p99_s) : "–"} more={<>p99 · p50 {d?.wait ? duration(d.wait.p50_s) : "–"}</>} series={seen.wait} tone="waits" />
			<Tile name="hold" value={d?.hold ? duration(d.hold.p99_s) : "–"} more={<>p99 · p50 {d?.hold ? duration(d.hold.p50_s) : "–"}</>} series={seen.hold} tone="holds" />
			<Tile name="locks held" value={d ? compact(sum(d, "held")) : "–"} more={d ? `of ${compact(sum(d, "known"))} known` : ""} />
			<Tile name="waiting" value={d ? compact(sum(d, "waiting")) : "–"} more={d ? `requests · ${count(sum(d, "clients"))} clients` : ""} series={seen.waiting} tone="waits" />
			<Tile name="members" value={d ? `${answer} of ${all.length}` : "–"} more={d ? `answer · ${some(voters.length, "voter")}` : ""} tone={d && answer < all.length ? "bad" : ""} />
			<Tile name="view" value={d ? `epoch ${d.epoch}` : "–"} more={d ? (d.leader ? <>led by <Name of={d.leader} />{d.term ? `, term ${d.term}` : ""}</> : "no leader known") : ""} />
			<Tile name="cluster" value={d ? <Name of={short(d.cluster, 8)} title={d.cluster} /> : "–"} more={d ? `lease ${duration(d.lease_s)}` : ""} />
		</dl>
	);
}
