// The keys of the page.

import { signal } from "@preact/signals";
import { Modal } from "./modal";

export const helping = signal(false);

const all: [keys: string, does: string][] = [
	["g o", "overview"],
	["g l", "locks"],
	["g w", "wait-for graph"],
	["g e", "elections"],
	["/", "search locks by the beginning of their names"],
	["↑ ↓", "from row to row; Home and End go to the first and the last"],
	["Enter", "open"],
	["Esc", "back: from a lock to the list, or out of a field or a dialog"],
	["[ ]", "page of locks before, next page"],
	["f", "on a lock: follow what happens, or stop there"],
	["?", "this help"],
];

export function Help() {
	if (!helping.value) return null;
	return (
		<Modal title="Keys" onClose={() => (helping.value = false)}>
			<dl class="keys">
				{all.map(([keys, does]) => <div key={keys}><dt>{keys.split(" ").map((k) => <kbd key={k}>{k}</kbd>)}</dt><dd>{does}</dd></div>)}
			</dl>
		</Modal>
	);
}
