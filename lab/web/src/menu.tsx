// What can be done to a process or a message: a click is a line of the text.

import { useLayoutEffect, useRef } from "preact/hooks";
import { type Item, forMessage, forProcess } from "./deeds";
import type { Doc } from "./document";
import { forEdge, linkKey } from "./edges";
import { frameAt } from "./frames";
import { type About, menu, openAt, picks } from "./opener";
import { cursor, doc } from "./shown";
import { underWay } from "./story";

export function Menu() {
	const about = menu.value;
	const d = doc.value;
	if (!about || !d) return null;
	const { key, title, items } = offered(d, about);
	const why = about.what === "process" ? frameAt(d, cursor.value).waits[about.proc] ?? "" : "";
	return <Open key={`${about.what} ${key}`} about={about} title={title} why={why} items={items} />;
}

/** offered returns the contents of a menu, and the key that identifies it. */
function offered(d: Doc, about: About): { key: string; title: string; items: Item[] } {
	switch (about.what) {
		case "process":
			return { key: `${about.proc} ${picks.value}`, ...forProcess(d, about.proc) };
		case "message":
			return { key: String(about.msg), ...forMessage(d, about.msg) };
		case "edge":
			return { key: `${linkKey(about.link)} ${picks.value}`, ...forEdge(d, about.link) };
	}
}

function Open({ about, title, why, items }: { about: About; title: string; why: string; items: Item[] }) {
	const box = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const element = box.current!;
		const back = document.activeElement;
		const { width, height } = element.getBoundingClientRect();
		element.style.left = `${Math.max(8, Math.min(about.x, innerWidth - width - 8))}px`;
		element.style.top = `${Math.max(8, Math.min(about.y, innerHeight - height - 8))}px`;
		(element.querySelector<HTMLElement>("[role=menuitem]") ?? element).focus({ preventScroll: true });
		const away = (e: PointerEvent) => element.contains(e.target as Node) || close();
		addEventListener("pointerdown", away, true);
		return () => {
			removeEventListener("pointerdown", away, true);
			if (back instanceof HTMLElement || back instanceof SVGElement) back.focus({ preventScroll: true });
		};
	}, []);
	return (
		<div class="menu" role="menu" aria-label={title} ref={box} tabIndex={-1} onKeyDown={(e) => keys(e, items)}>
			<p class="menu-title">{title}{about.what === "message" && neighbour(about.msg, 1) !== undefined && <kbd title="left and right go to other messages">← →</kbd>}</p>
			{why && <p class="menu-why">It {why}.</p>}
			{items.length === 0 && <p class="soft">Nothing can be done here now.</p>}
			{items.map((item) => (
				<button key={item.label} type="button" role="menuitem" class={item.breaks ? "breaks" : ""} tabIndex={-1} title={item.title} onClick={() => choose(item)}>
					{item.label}
					{item.key && <kbd>{item.key}</kbd>}
				</button>
			))}
		</div>
	);
}

function close(): void {
	menu.value = undefined;
}

function choose(item: Item): void {
	if (!item.stays) close();
	item.run();
}

/** neighbour returns a message in flight next to another one, in the order of sending. */
function neighbour(msg: number, by: number): number | undefined {
	const d = doc.value;
	const all = d ? underWay(d, cursor.value).map((m) => m.msg).sort((a, b) => a - b) : [];
	const at = all.indexOf(msg);
	return at < 0 || all.length < 2 ? undefined : all[(at + by + all.length) % all.length];
}

/** beside goes from the menu of a message to that of another one. */
function beside(by: number): void {
	const about = menu.value;
	if (about?.what !== "message") return;
	const msg = neighbour(about.msg, by);
	if (msg === undefined) return;
	const letter = document.querySelector(`.letter[data-msg="${msg}"]`);
	if (letter) openAt(letter, { what: "message", msg });
	else menu.value = { ...about, msg };
}

function keys(e: KeyboardEvent & { currentTarget: HTMLElement }, items: Item[]): void {
	e.stopPropagation(); // single letters are commands elsewhere on the page
	const all = [...e.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")];
	const at = all.indexOf(document.activeElement as HTMLElement);
	const go = (to: number) => all[(to + all.length) % all.length]?.focus();
	const named = items.find((item) => item.key === e.key);
	if (e.key === "Tab" || e.key === "Escape") close();
	else if (e.key === "ArrowRight" || e.key === "m") beside(1);
	else if (e.key === "ArrowLeft") beside(-1);
	else if (e.key === "ArrowDown") go(at + 1);
	else if (e.key === "ArrowUp") go(at - 1);
	else if (e.key === "Home") go(0);
	else if (e.key === "End") go(-1);
	else if (named && e.key !== "Enter" && !e.ctrlKey && !e.metaKey) choose(named);
	else if (e.key !== "Enter" && e.key !== " ") return;
	if (e.key !== "Enter" && e.key !== " ") e.preventDefault();
}
