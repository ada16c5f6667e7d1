// The list of keys.

import { all } from "./keys";
import { Panel } from "./panel";

export function Help() {
	return (
		<Panel name="help" title="Keys" lead="Everything the mouse does, keys do too. Tab moves to the next thing, Enter chooses it, Escape leaves it.">
			<dl class="keys">
				{all.map((k) => (
					<div key={k.shown}>
						<dt><kbd>{k.shown}</kbd></dt>
						<dd>{k.does}</dd>
					</div>
				))}
			</dl>
		</Panel>
	);
}
