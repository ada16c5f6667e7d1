// The page of the lab.

import { computed, effect, signal } from "@preact/signals";
import { render } from "preact";
import { type Refusal, backend, refused } from "./backend";
import type { Doc, Fault } from "./document";
import { link } from "./link";

const lab = backend();
const text = signal("");
const doc = signal<Doc | undefined>(undefined); // the last one without an error
const fault = signal<Fault | undefined>(undefined);
const title = computed(() => doc.value?.title || "stile lab");

// Only the newest text is of interest.
let asked = new AbortController();

async function run(now: string): Promise<void> {
	asked.abort();
	asked = new AbortController();
	const { signal } = asked;
	try {
		const answer: Doc | Refusal = await lab.call<Doc>("run", { text: now, spacing: "event" }, signal);
		if (signal.aborted) return;
		fault.value = refused(answer) ? answer.error : undefined;
		if (!refused(answer)) doc.value = answer;
	} catch (err) {
		if (!signal.aborted) throw err;
	}
}

function State() {
	const { value } = link;
	if (value.state !== "lost") return null;
	return <p class="lost" role="status">The lab is out of reach ({value.why}): is <code>stile lab</code> running? Trying again.</p>;
}

function Page() {
	return (
		<main data-state={link.value.state}>
			<h1>{title}</h1>
			<State />
			<p>{doc.value?.events.length ?? 0} events</p>
			{fault.value && <p class="fault" role="alert">line {fault.value.line}: {fault.value.text}</p>}
			<textarea aria-label="the scenario" spellcheck={false} value={text} onInput={(e) => (text.value = e.currentTarget.value)} />
		</main>
	);
}

render(<Page />, document.getElementById("app")!);
effect(() => {
	document.title = title.value;
});

const start = await lab.call<{ text: string }>("start", {});
if (!refused(start)) text.value = start.text;
effect(() => {
	void run(text.value);
});
