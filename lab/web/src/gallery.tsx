// The gallery: what there is to open, with a sentence each. It is the first thing a new
// visitor sees.

import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Exhibit, shelf } from "./answers";
import { refused } from "./backend";
import { Panel, Trouble, close } from "./panel";
import { dialog, open as openText } from "./state";
import { Thumbnail } from "./thumbnail";
import { startTour, toured } from "./tour";

const wanted = signal("");

/** bare returns a text in lower case and without marks, as people type it: żeton, zeton. */
const bare = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ł", "l");

/** What contains every word of the search, group by group. */
const found = computed(() => {
	const answer = shelf.answer.value;
	if (!answer || refused(answer)) return [];
	const words = bare(wanted.value).split(/\s+/).filter(Boolean);
	const fits = (group: string, { file, title, sentence, text, words: terms }: Exhibit) => {
		const all = bare(`${group}\n${file}\n${title}\n${sentence}\n${terms}\n${/^\s*algorithm\s+(.*)$/m.exec(text)?.[1] ?? ""}`);
		return words.every((w) => all.includes(w));
	};
	return answer.groups.map((g) => ({ ...g, items: g.items.filter((it) => fits(g.title, it)) })).filter((g) => g.items.length > 0);
});

/** open shows an exhibit from its beginning. */
function open(it: Exhibit): void {
	close();
	void openText(it.text);
}

export function Gallery() {
	return (
		<Panel name="gallery" title="Gallery" lead="Open a scenario, step through it, break it. Everything you see is a text that you can change.">
			<Shelves />
		</Panel>
	);
}

function Shelves() {
	useEffect(() => void shelf.fetch(), []);
	const answer = shelf.answer.value;
	const first = found.value[0]?.items[0];
	return (
		<div class="gallery" onKeyDown={walk}>
			<div class="gallery-top">
				<input
					type="search"
					data-first
					aria-label="Search the gallery"
					placeholder="Search for an algorithm, a name, a word"
					value={wanted.value}
					onInput={(e) => (wanted.value = e.currentTarget.value)}
					onKeyDown={(e) => e.key === "Enter" && first && open(first)}
				/>
				<button type="button" class={toured() ? "" : "is-main"} onClick={startTour}>Take the tour in six steps</button>
				<button type="button" onClick={() => (dialog.value = "fresh")}>New scenario</button>
			</div>
			{!answer && <p role="status">Fetching the gallery …</p>}
			{answer && refused(answer) && (
				<>
					<Trouble what="The gallery could not be loaded" of={answer} />
					<button type="button" onClick={() => void shelf.fetch()}>Try again</button>
				</>
			)}
			{answer && !refused(answer) && (
				<p class="unseen" role="status">{found.value.reduce((sum, g) => sum + g.items.length, 0)} scenarios</p>
			)}
			{answer && !refused(answer) && !first && <p>No scenario has all of these words. Search for fewer, or write a new scenario.</p>}
			{found.value.map((group, i) => (
				<section key={group.title} aria-label={group.title}>
					<h3>{group.title}</h3>
					<ul class="gallery-items">
						{group.items.map((it, j) => (
							<li key={it.file}>
								<button type="button" class={i === 0 && j === 0 && wanted.value === "" ? "exhibit is-first" : "exhibit"} onClick={() => open(it)}>
									<Thumbnail of={it.outline} />
									<strong>{it.title}</strong>
									<span>{it.sentence}</span>
									<code>{it.file}</code>
								</button>
							</li>
						))}
					</ul>
				</section>
			))}
		</div>
	);
}

// walk goes from exhibit to exhibit with the arrow keys.
function walk(e: KeyboardEvent & { currentTarget: HTMLElement }): void {
	const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
	if (!by) return;
	const all = [...e.currentTarget.querySelectorAll<HTMLElement>("input, .exhibit")];
	const at = all.indexOf(document.activeElement as HTMLElement);
	all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
	e.preventDefault();
}
