// What opens the menu of a process, of a message or of an edge of a picture. Which menu that is
// depends on the page: the lab's is in menu.tsx.

import { signal } from "@preact/signals";
import type { Link } from "./edges";

/** The subject of a menu, and its position. */
export type About = { x: number; y: number } & Subject;

type Subject = { what: "process"; proc: number } | { what: "message"; msg: number } | { what: "edge"; link: Link };

/** What is open. */
export const menu = signal<About | undefined>(undefined);

/** The locks chosen so far in the open menu; undefined if none are being chosen. */
export const picks = signal<number[] | undefined>(undefined);

/** openMenu shows what can be done. */
export function openMenu(about: About): void {
	picks.value = undefined;
	menu.value = about;
}

/** openAt shows it next to an element, for users without a mouse. */
export function openAt(element: Element, about: Subject): void {
	const box = element.getBoundingClientRect();
	openMenu({ ...about, x: box.right, y: box.bottom });
}

/** opens returns what makes an element of a picture a button with a menu. */
export function opens(about: Subject) {
	return {
		role: "button" as const,
		tabindex: 0,
		"aria-haspopup": "menu" as const,
		onClick: (e: MouseEvent) => openMenu({ ...about, x: e.clientX + 4, y: e.clientY + 4 }),
		onKeyDown: (e: KeyboardEvent & { currentTarget: Element }) => {
			if (e.key !== "Enter" && e.key !== " ") return;
			e.preventDefault();
			e.stopPropagation();
			openAt(e.currentTarget, about);
		},
	};
}
