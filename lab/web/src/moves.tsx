// What can happen next: the enabled moves, as the checker sees them. Choosing one goes to its
// successor, and Back returns.

import { type Item, movesOf } from "./deeds";
import type { Doc } from "./document";
import { midStep } from "./frames";
import { Press } from "./press";
import { cursor, total } from "./shown";
import { undo, undoable } from "./state";

export function Moves({ d }: { d: Doc }) {
	if (midStep(d, cursor.value)) return <p class="soft">This is the middle of a step: step to its end to see what can happen next.</p>;
	const all = movesOf(d);
	return (
		<div class="moves">
			<Press idle={!undoable.value} onClick={undo} title="undo the last move (u)">Back</Press>
			<p class="soft">
				{all.length === 0 ? "Nothing can happen here." : `${all.length} ${all.length === 1 ? "move is" : "moves are"} possible here.`}
				{cursor.value < total.value && all.length > 0 && " What you choose comes before what the text says next."}
			</p>
			<ul aria-label="possible moves">{all.map((m) => <li key={m.label}><Move item={m} /></li>)}</ul>
		</div>
	);
}

function Move({ item }: { item: Item }) {
	return <button type="button" onClick={() => item.run()}>{item.label}</button>;
}
