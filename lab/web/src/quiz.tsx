// A quiz: which process enters next? The future is hidden until an answer is given.

import { signal } from "@preact/signals";
import type { Doc } from "./document";
import { cursor, doc, nextOf, notice, quizzing, seek } from "./shown";
import { sitesOf } from "./stage";

const score = signal({ right: 0, of: 0 });
const most = 12; // maximum number of processes to choose from

/** quiz begins or ends a quiz. */
export function quiz(): void {
	score.value = { right: 0, of: 0 };
	quizzing.value = !quizzing.value;
	if (quizzing.value && nextOf("entry") < 0) seek(0);
}

/** Quiz asks which process enters next. */
export function Quiz({ d }: { d: Doc }) {
	if (!quizzing.value) return null;
	const { right, of } = score.value;
	const to = nextOf("entry");
	const lanes = d.names.map((_, i) => i).slice(sitesOf(d));
	const verb = d.algorithm.calls ? "leads" : "enters";
	return (
		<div class="quiz" role="group" aria-label="quiz">
			<p>
				{to < 0 ? `No process ${verb} after this.` : `Which process ${verb} next?`} {of > 0 && <small>{right} of {of} right</small>}
			</p>
			{to >= 0 && lanes.length <= most && (
				<div class="buttons">{lanes.map((i) => <button type="button" key={i} onClick={() => answer(i, to)}>{d.names[i]}</button>)}</div>
			)}
			{lanes.length > most && <p class="soft">A quiz needs a group of at most {most} processes.</p>}
			<button type="button" onClick={quiz}>End the quiz</button>
		</div>
	);
}

function answer(lane: number, to: number): void {
	const d = doc.value!;
	const event = d.events[to - 1]!;
	const right = event.proc === lane;
	const after = cursor.value;
	score.value = { right: score.value.right + (right ? 1 : 0), of: score.value.of + 1 };
	seek(to);
	notice.value = `${right ? "Right" : "No"}: ${event.text} That took ${to - after} events.`;
}
