// What the scenario does that the algorithm does not promise to tolerate.

import { doc } from "./shown";

/** Badges are what the scenario does that the algorithm does not promise to tolerate. */
export function Badges() {
	const all = doc.value?.badges ?? [];
	if (all.length === 0) return null;
	return <ul class="beyond" aria-label="beyond what the algorithm promises">{all.map((b) => <li key={b}>{b}</li>)}</ul>;
}
