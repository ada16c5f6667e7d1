// The page: what is where.

import { Check } from "./check";
import { Compare } from "./compare";
import { Diagram } from "./diagram";
import { Editor } from "./editor";
import { Events } from "./events";
import { Export } from "./export";
import { Fresh } from "./fresh";
import { Gallery } from "./gallery";
import { Help } from "./help";
import { Measures } from "./measures";
import { Menu } from "./menu";
import { Scene } from "./scene";
import { branchAt, branches, busy, dialog, doc, link, notice, switchTo } from "./state";
import { States } from "./states";
import { Tour } from "./tour";

export function App() {
	return (
		<>
			<Header />
			<main data-state={link.value.state} aria-busy={busy.value}>
				<Scene />
				<Diagram />
				<section class="text" data-tour="editor" aria-label="the scenario"><Editor /></section>
				<States />
				<Measures />
				<Events />
			</main>
			<Messages />
			<Menu />
			<Gallery />
			<Fresh />
			<Check />
			<Compare />
			<Export />
			<Help />
			<Tour />
		</>
	);
}

function Header() {
	const d = doc.value;
	const a = d?.algorithm;
	return (
		<header class="top">
			<p class="brand">stile lab</p>
			<h1>{d?.title ?? ""}</h1>
			{d && (
				<ul class="chips" aria-label="setting">
					{a?.name && <li title={a?.paper ? `${a.title}: ${a.authors} ${a.year || ""}. ${a.paper}` : a?.title}>algorithm <b>{a?.name}</b></li>}
					<li>N <b>{d.names.length - (d.kind === "transactions" ? d.scene.groups.length : 0)}</b></li>
					{d.network && <li>network <b>{d.network}</b></li>}
					{a?.wrong && <li class="warn" title={a.wrong}>known to be wrong</li>}
					{a?.weaker && <li class="warn" title={a.weaker}>promises less</li>}
				</ul>
			)}
			<nav aria-label="lab">
				<button type="button" onClick={() => (dialog.value = "gallery")} title="examples (g)">Gallery</button>
				<button type="button" onClick={() => (dialog.value = "fresh")} title="a new scenario (n)">New</button>
				<button type="button" onClick={() => (dialog.value = "compare")} title="compare algorithms (o)">Compare</button>
				<button type="button" class="main" data-tour="check" onClick={() => (dialog.value = "check")} title="check every interleaving of this setting (k)">Check every interleaving</button>
				<button type="button" onClick={() => (dialog.value = "export")} title="an address, a picture, a file (x)">Share</button>
				<button type="button" class="round" onClick={() => (dialog.value = "help")} aria-label="keys" title="keys (?)">?</button>
			</nav>
			<Branches />
		</header>
	);
}

function Branches() {
	if (branches.value.length < 2) return null;
	return (
		<div class="branches" role="tablist" aria-label="branches">
			{branches.value.map((b, i) => (
				<button key={i} type="button" role="tab" aria-selected={i === branchAt.value} onClick={() => switchTo(i)}>{b.name}</button>
			))}
		</div>
	);
}

/** Messages are what the page has to say: what is out of reach, what the scenario breaks, what a click came to. */
function Messages() {
	const { value } = link;
	const d = doc.value;
	return (
		<div class="messages">
			{value.state === "lost" && <p class="lost" role="status">The lab is out of reach ({value.why}): is <code>stile lab</code> running? Trying again.</p>}
			{notice.value && (
				<p class="notice" role="status">
					{notice.value} <button type="button" class="link" onClick={() => (notice.value = "")}>close</button>
				</p>
			)}
			{d?.cut && <p class="notice" role="status">{d.cut.text}</p>}
		</div>
	);
}
