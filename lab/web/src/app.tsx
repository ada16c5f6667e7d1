// The page: the arrangement of its parts.

import { Check, askCheck, moot } from "./check";
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
import { Messages } from "./messages";
import { modal } from "./panel";
import { embedded, present } from "./present";
import { Scene } from "./scene";
import { doc } from "./shown";
import { sitesOf } from "./stage";
import { type Branch, branchAt, branches, busy, closeBranch, dialog, link, switchTo } from "./state";
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
			{!embedded && <Menu />}
			{!embedded && <Gallery />}
			{!embedded && <Fresh />}
			{!embedded && <Check />}
			{!embedded && <Compare />}
			{!embedded && <Export />}
			<Help />
			{!embedded && <Tour />}
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
				<button type="button" class="round" onClick={present} aria-label="present" title="present: the whole screen, with large type (p)"><svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true"><path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" fill="none" stroke="currentColor" stroke-width="1.8" /></svg></button>
				<button type="button" class="round" onClick={() => (dialog.value = "help")} aria-label="keys" title="keys (?)">?</button>
			</nav>
			<Branches />
		</header>
	);
}

/** treeOf returns branches with their depth: each after the one that it was made from. */
function treeOf(all: Branch[]): { b: Branch; deep: number }[] {
	const known = new Set(all.map((b) => b.id));
	const below = (parent: number, deep: number): { b: Branch; deep: number }[] => all.filter((b) => b.parent === parent).flatMap((b) => [{ b, deep }, ...below(b.id, deep + 1)]);
	return all.filter((b) => !known.has(b.parent)).flatMap((b) => [{ b, deep: b.id === 0 ? 0 : 1 }, ...below(b.id, b.id === 0 ? 1 : 2)]);
}

function Branches() {
	const all = branches.value;
	if (all.length < 2) return null;
	return (
		<div class="branches" role="group" aria-label="branches">
			{treeOf(all).map(({ b, deep }) => ({ b, deep, i: all.indexOf(b) })).map(({ b, deep, i }) => (
				<span key={b.id}>
					{deep > 0 && <i class="fork" aria-hidden="true">{"─".repeat(deep - 1)}└</i>}
					<button type="button" aria-pressed={i === branchAt.value} title={deep > 0 ? `from ${all.find((p) => p.id === b.parent)?.name ?? "a closed branch"}` : undefined} onClick={() => switchTo(i)}>{b.name}</button>
					{i > 0 && <button type="button" aria-label={`close ${b.name}`} title="Close this branch and discard its text" onClick={() => closeBranch(i)}>×</button>}
				</span>
			))}
		</div>
	);
}
