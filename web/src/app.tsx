// The page: the arrangement of its parts.

import { Check, askCheck, moot } from "./check";
import { Compare } from "./compare";
import { sitesOf } from "./deeds";
import { Diagram } from "./diagram";
import { Editor } from "./editor";
import { Events } from "./events";
import { Export } from "./export";
import { Fresh } from "./fresh";
import { Gallery } from "./gallery";
import { Help } from "./help";
import { Measures } from "./measures";
import { Menu } from "./menu";
import { Messages } from "./messages";
import { modal } from "./panel";
import { Scene } from "./scene";
import { branchAt, branches, busy, closeBranch, dialog, doc, link, switchTo } from "./state";
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
			{!modal(dialog.value) && <Messages />}
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
			<h1 title={d?.title}>{d?.title ?? ""}</h1>
			{d && (
				<ul class="chips" aria-label="setting">
					{a?.name && <li title={a?.paper ? `${a.title}: ${a.authors} ${a.year || ""}. ${a.paper}` : a?.title}>algorithm <b>{a?.name}</b></li>}
					<li>N <b>{d.names.length - sitesOf(d)}</b></li>
					{d.network && <li>network <b>{d.network}</b></li>}
					{a?.wrong && <li class="warn" title={a.wrong}>known to be wrong</li>}
					{a?.weaker && <li class="warn" title={a.weaker}>promises less</li>}
				</ul>
			)}
			<nav aria-label="lab">
				<button type="button" onClick={() => (dialog.value = "gallery")} title="examples (g)">Gallery</button>
				<button type="button" onClick={() => (dialog.value = "fresh")} title="a new scenario (n)">New</button>
				<button type="button" onClick={() => (dialog.value = "compare")} title="compare algorithms (o)">Compare</button>
				<button type="button" class="main" data-tour="check" disabled={moot.value !== ""} onClick={askCheck} title={moot.value || "check every interleaving of this setting (k)"}>Check every interleaving</button>
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
		<div class="branches" role="group" aria-label="branches">
			{branches.value.map((b, i) => (
				<span key={i}>
					<button type="button" aria-pressed={i === branchAt.value} onClick={() => switchTo(i)}>{b.name}</button>
					{i > 0 && <button type="button" aria-label={`close ${b.name}`} title="Close this branch and discard its text" onClick={() => closeBranch(i)}>×</button>}
				</span>
			))}
		</div>
	);
}
