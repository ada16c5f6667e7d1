// The group in the algorithm's own picture, and the controls of time below it.

import { Balance } from "./account";
import { Controls } from "./controls";
import { Group, titleOf } from "./group";
import { Quiz } from "./quiz";
import { doc } from "./shown";
import { Why } from "./why";

export function Scene() {
	const d = doc.value;
	return (
		<section class="scene" data-tour="scene" aria-label="the group">
			<h2>{titleOf(d)} {d && <span>{d.scene.title}</span>}</h2>
			{d && <Balance d={d} />}
			<Group />
			{d && <Why d={d} />}
			{d && <Quiz d={d} />}
			<Controls />
		</section>
	);
}
