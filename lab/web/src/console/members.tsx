// The members of the cluster: what each says of itself, and what others say of it.

import type { JSX } from "preact";
import { ask, leaving, evicting } from "./actions";
import { Age, Gauge } from "./bits";
import { second } from "./clock";
import { hello } from "./contact";
import { ago, compact, count, rate } from "./format";
import { Name, plain } from "./name";
import type { Member, Overview } from "./views";

const late = 5; // seconds without an answer after which one is missing

/** How a member is: well, not quite, or not at all. */
type Health = "well" | "odd" | "ill";

/** healthOf returns how a member is, and why not better. */
function healthOf(m: Member): { health: Health; words: string } {
	if (m.error) return { health: "ill", words: "does not answer" };
	if (m.state !== undefined && m.state !== "member") return { health: "odd", words: m.state };
	if (m.why) return { health: "ill", words: "no lease" };
	return { health: "well", words: m.state ?? "unknown" };
}

/** byName returns members in the order of their names. */
export function byName(d: Overview): Member[] {
	return Object.values(d.members).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

const columns: [title: string, about: string, number?: boolean][] = [
	["member", "its name, and the address at which members reach it"],
	["state", "what it takes part in, as it says itself"],
	["epoch", "the number of its view of the membership", true],
	["lease margin", "least time that was left of its lease at a renewal in the last minutes, which is marked; the bar is the time left now"],
	["held", "locks held through it", true],
	["waiting", "requests that wait at it", true],
	["rate", "acquisitions through it per second", true],
	["lost", "locks that holders have lost through it", true],
	["clients", "sessions of clients", true],
	["known", "locks that it knows", true],
	["incarnation", "changes whenever it joins anew", true],
	["complaints", "members that cannot reach it"],
];

export function Members({ d }: { d: Overview }): JSX.Element {
	const all = byName(d);
	const blamed = new Map<string, string[]>(all.map((m) => [m.name, []]));
	for (const m of all) for (const name of m.complains ?? []) blamed.get(name)?.push(m.name);
	const acts = hello.value?.administers === true;
	return (
		<div class="wide" tabIndex={0} role="group" aria-label="members, a table">
			<table class="members" role="table">
				<thead><tr role="row">{columns.map(([title, about, number]) => <th key={title} scope="col" role="columnheader" class={number ? "number" : ""} title={about}>{title}</th>)}{acts && <th scope="col" role="columnheader"><span class="unseen">actions</span></th>}</tr></thead>
				<tbody>{all.map((m) => <Row key={m.name} m={m} d={d} blamers={blamed.get(m.name)!} acts={acts} />)}</tbody>
			</table>
		</div>
	);
}

function Row({ m, d, blamers, acts }: { m: Member; d: Overview; blamers: string[]; acts: boolean }) {
	const { health, words } = healthOf(m);
	const dead = health === "ill" && Boolean(m.error);
	const number = (name: string, n: number | undefined, words = n === undefined ? "–" : compact(n)) => <td role="cell" class="number" data-of={name} title={n === undefined ? undefined : count(n)}>{dead ? "–" : words}</td>;
	return (
		<tr role="row" class={`is-${health}`}>
			<th scope="row" role="rowheader">
				<span class="member-name"><Name of={m.name} cut />{m.name === d.node && <span class="tag" title="the node that you are looking through">here</span>}{m.name === d.leader && <span class="tag" title={`leader of the view service${d.term ? `, term ${d.term}` : ""}`}>leader</span>}{m.voter && m.name !== d.leader && <span class="tag" title="stores the view log">voter</span>}</span>
				<Name of={m.address} cut class="soft small" />
			</th>
			<td role="cell" class="state" data-of="state">
				<span class="health" title={plain(m.error ?? m.why ?? "")}><i aria-hidden="true" /><Name of={words} /></span>
				{m.why && !m.error && <small><Name of={m.why} /></small>}
				{m.error && <small><Name of={m.error} /></small>}
				<Heard at={m.heard_ms} always={Boolean(m.error)} />
			</td>
			<td role="cell" class={`number${!dead && m.epoch !== undefined && m.epoch !== d.epoch ? " off" : ""}`} data-of="epoch">{m.epoch ?? "–"}</td>
			<td role="cell" class="lease" data-of="lease margin">{m.lease_left_s !== undefined && !dead ? <Gauge label="lease left" value={m.lease_left_s} of={d.lease_s} mark={m.lease_margin_s} /> : "–"}</td>
			{number("held", m.held)}
			{number("waiting", m.waiting)}
			{number("rate", m.rate, `${rate(m.rate)}${m.rate === undefined ? "" : "/s"}`)}
			{number("lost", m.lost)}
			{number("clients", m.clients)}
			{number("known", m.known)}
			<td role="cell" class="number soft" data-of="incarnation">{m.incarnation}</td>
			<td role="cell" class="complaints" data-of="complaints">{blamers.length > 0 ? <span class="off"><Names of={blamers} /> {blamers.length === 1 ? "complains" : "complain"} about <Name of={m.name} /></span> : <span class="soft">none</span>}{!m.linked && m.name !== d.node && <small class="off">no connection from <Name of={d.node} /></small>}</td>
			{acts && (
				<td role="cell" class="acts">
					<button type="button" class="small" onClick={() => ask(leaving(d, m))} disabled={dead} title={dead ? "it does not answer, so it cannot be asked to leave" : `ask ${plain(m.name)} to leave the cluster`}>Leave …</button>
					<button type="button" class="small breaks" onClick={() => ask(evicting(d, m))} title={`continue without ${plain(m.name)}`}>Evict …</button>
				</td>
			)}
		</tr>
	);
}

/** Heard says when a member has last answered, if that is a while ago. */
function Heard({ at, always }: { at: number | undefined; always: boolean }) {
	if (at === undefined) return null;
	const s = (second.value - at) / 1000;
	if (!always && s < late) return null;
	return <small>last answer {always ? <><Age since={at} /> ago</> : ago(s)}</small>;
}

/** Names is a list of names. */
export function Names({ of }: { of: string[] }): JSX.Element {
	return <>{of.map((name, i) => <span key={name}>{i > 0 && (i === of.length - 1 ? " and " : ", ")}<Name of={name} /></span>)}</>;
}
