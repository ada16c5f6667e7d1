// Names, labels, values and identities are arbitrary. They are shown as text that affects
// nothing around it, and characters that cannot be seen are made visible.

import type { JSX } from "preact";

// What has no shape of its own: controls, what separates lines, what has no width, and what
// changes the direction of text.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]|[\u{e0000}-\u{e0fff}]/gu;

/** Part of a text: as it is, or the sign for a character that cannot be seen. */
interface Part {
	text: string;
	sign: boolean;
}

/** partsOf splits a text into what can be seen and signs for what cannot. */
export function partsOf(text: string): Part[] {
	const parts: Part[] = [];
	let from = 0;
	for (const { 0: it, index } of text.matchAll(hidden)) {
		if (index > from) parts.push({ text: text.slice(from, index), sign: false });
		parts.push({ text: signOf(it), sign: true });
		from = index + it.length;
	}
	if (from < text.length) parts.push({ text: text.slice(from), sign: false });
	return parts;
}

/** signOf returns the sign for a character: one of Unicode's pictures, or its number. */
function signOf(it: string): string {
	const code = it.codePointAt(0)!;
	if (code < 0x20) return String.fromCodePoint(0x2400 + code);
	return code === 0x7f ? "␡" : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** plain returns a text with signs, for where there is only text, such as a title. */
export function plain(text: string): string {
	return partsOf(text).map((p) => (p.sign ? `‹${p.text}›` : p.text)).join("");
}

/** short returns the beginning of a text with signs. */
export function short(text: string, most: number): string {
	const letters = [...plain(text)];
	return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
}

interface NameProps {
	of: string;
	/** It is cut to the room that there is; otherwise it is broken into lines. */
	cut?: boolean;
	class?: string;
	title?: string;
}

/** Name is a text from outside, such as the name of a lock. */
export function Name({ of, cut, class: name = "", title }: NameProps): JSX.Element {
	const parts = partsOf(of);
	return (
		<bdi dir="auto" class={`name-text ${cut ? "cut " : ""}${name}`} title={title ?? (cut ? plain(of) : undefined)}>
			{of === "" ? <span class="soft">(empty)</span> : parts.map((p, i) => (p.sign ? <span key={i} class="sign" title={`a character that cannot be seen: ${p.text}`}>{p.text}</span> : p.text))}
		</bdi>
	);
}
