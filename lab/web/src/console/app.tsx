// The page of the console: the arrangement of its parts.

import { effect, signal } from "@preact/signals";
import { Dialogs } from "./actions";
import { second } from "./clock";
import { contact, heard, hello } from "./contact";
import { Outdated } from "./edition";
import { Elections } from "./elections";
import { age } from "./format";
import { Gone, Token, asking } from "./gone";
import { Graph } from "./graph";
import { Help, helping } from "./help";
import { Lock } from "./lock";
import { Locks } from "./locks";
import { Name, plain } from "./name";
import { Overview } from "./overview";
import { type Place, route } from "./route";

const places: { place: Place; title: string; hash: string; key: string }[] = [
	{ place: "overview", title: "Overview", hash: "#overview", key: "o" },
	{ place: "locks", title: "Locks", hash: "#locks", key: "l" },
	{ place: "graph", title: "Wait-for graph", hash: "#graph", key: "w" },
	{ place: "elections", title: "Elections", hash: "#elections", key: "e" },
];

export function App() {
	return (
		<>
			<Header />
			<Gone />
			<Outdated />
			<main id="view" tabIndex={-1} data-contact={contact.value.state}><View /></main>
			<Dialogs />
			<Help />
			<p class="unseen" role="status">{said}</p>
		</>
	);
}

function Header() {
	const { place } = route.value;
	const it = hello.value;
	return (
		<header class="top">
			<p class="brand">stile console</p>
			<nav aria-label="views">
				{places.map((p) => (
					<a key={p.place} href={p.hash} aria-current={p.place === place || (p.place === "locks" && place === "lock") ? "page" : undefined} title={`${p.title} (g ${p.key})`}>{p.title}</a>
				))}
			</nav>
			<p class="standing"><Standing /></p>
			<p class="reader">{it && <span title={it.identity ? `${plain(it.who)}: ${it.administers ? "administers the cluster" : "does not administer the cluster"}` : "no identity is asked for"}><Name of={it.who} cut />{it.administers && it.identity ? <span class="tag">admin</span> : null}</span>}</p>
			<button type="button" class="round" aria-label="keys" title="keys (?)" onClick={() => (helping.value = true)}>?</button>
		</header>
	);
}

const quiet = 6_000; // ms: there is a sign of life every 5 s

/** Standing says whether what is shown is up to date. */
function Standing() {
	const { state } = contact.value;
	const node = hello.value?.node ?? "";
	const late = state === "live" && (second.value, Date.now() - heard.value > quiet);
	const looks = state === "live" ? (late ? "late" : "live") : state;
	const words = { starting: "connecting", live: "live", late: `no news for ${age((Date.now() - heard.value) / 1000)}`, lost: "no answer", stranger: "not identified", denied: "not allowed" }[looks];
	return <span class={`standing-${looks}`} title={`whether the node at ${location.host} answers`}><i aria-hidden="true" />{node && <b><Name of={node} cut /></b>} {words}</span>;
}

/** View is what the address says. It goes on to ask for that while the user looks for a token. */
function View() {
	const strange = contact.value.state === "stranger" || asking.value;
	return <>{strange && <Token />}<div class="view" hidden={strange}><Shown /></div></>;
}

function Shown() {
	const { place, name } = route.value;
	switch (place) {
		case "locks": return <Locks />;
		case "lock": return <Lock key={name} name={name} />;
		case "graph": return <Graph />;
		case "elections": return <Elections />;
		default: return <Overview />;
	}
}

/** What is said to users who do not see the page change. */
const said = signal("");
const says = { starting: "", live: "connected", lost: "the node does not answer", stranger: "the node asks for a token", denied: "the node does not allow you to look" };

/** announce keeps the title of the page, and what is said, up to date. */
export function announce(): void {
	effect(() => {
		said.value = says[contact.value.state];
	});
	effect(() => {
		const { place, name } = route.value;
		const what = place === "lock" ? plain(name) : places.find((p) => p.place === place)!.title;
		document.title = `${what} · ${hello.value ? `${plain(hello.value.node)} · ` : ""}stile console`;
	});
}
