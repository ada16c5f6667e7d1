// What happens to a lock, as it happens: the steps of its algorithm at all members, the newest
// last, and the state of each member.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { save } from "../save";
import { Ago } from "./bits";
import { useFeed } from "./feed";
import { follows } from "./keys";
import { Name, plain } from "./name";
import { record, recording } from "./record";
import { read } from "./steps";
import type { Trail as View } from "./views";

/** Whether the list goes on with what happens; otherwise it can be looked at. */
const live = signal(true);

export function Trail({ name }: { name: string }) {
	const feed = useFeed<View>("trail", { name }, false);
	const shown = useSignal<View | undefined>(undefined);
	const latest = feed.doc.value;
	useEffect(() => {
		live.value = true;
		shown.value = undefined;
	}, [name]);
	useEffect(() => {
		if (live.value) shown.value = latest;
	}, [latest, live.value]);
	useEffect(() => {
		if (follows.value > pressed) (live.value = !live.value), (pressed = follows.value);
	}, [follows.value]);
	const why = feed.trouble.value || latest?.why;
	const { steps, members } = read(shown.value?.text ?? "", shown.value?.seats ?? []);
	const list = useRef<HTMLOListElement>(null);
	useLayoutEffect(() => {
		if (live.value && list.current) list.current.scrollTop = list.current.scrollHeight;
	}, [shown.value]);
	return (
		<section class="trail" aria-label="what happens">
			<h2>
				What happens
				{latest && <Follow view={latest} />}
			</h2>
			{why && <p class="notice warn small" role="status"><Name of={why} /></p>}
			{steps.length === 0 && !why && <p class="nothing">{latest ? "Nothing has happened to this lock yet since it is followed." : "Asking the members to follow this lock …"}</p>}
			{steps.length > 0 && (
				<ol class="steps" ref={list} tabIndex={0} aria-label="steps, the newest last">
					{steps.map((s, i) => <li key={i} class={s.at ? "" : "aside"}><span class="soft">{s.at}</span><Name of={s.text} /></li>)}
				</ol>
			)}
			{members.length > 0 && (
				<div class="wide" tabIndex={0} role="group" aria-label="states of the members, a table">
					<table>
						<thead><tr><th scope="col">member</th><th scope="col">is</th><th scope="col">state</th></tr></thead>
						<tbody>
							{members.map((m, i) => (
								<tr key={i}>
									<th scope="row"><Name of={m.name} cut /></th>
									<td>{m.phase}</td>
									<td>{m.fields.map(([field, value]) => <span key={field} class="field"><span class="soft">{field}</span> {value} </span>)}</td>
								</tr>
							))}
						</tbody>
					</table>
				</div>
			)}
			<Recorder name={name} />
		</section>
	);
}

let pressed = 0; // as of the last time

function Follow({ view }: { view: View }) {
	return (
		<span class="choice">
			<button type="button" aria-pressed={live.value} title={live.value ? "stop here and look at it (f)" : "go on with what happens (f)"} onClick={() => (live.value = !live.value)}>{live.value ? "live" : "stopped"}</button>
			{!live.value && view.to_ms !== undefined && <small class="soft"> there is more since, last <Ago at={view.to_ms} /></small>}
		</span>
	);
}

/** Recorder records what happens, as a file for the laboratory. */
function Recorder({ name }: { name: string }) {
	const now = recording.value;
	const mine = now?.name === name ? now : undefined;
	useEffect(() => () => recording.value?.stop(), [name]);
	const file = `${plain(name).replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+/, "").slice(0, 60) || "lock"}.stile`;
	return (
		<div class="recorder">
			{!mine && <button type="button" onClick={() => record(name)} title="record all that happens to this lock, as a file for the laboratory">Record 10 s</button>}
			{mine && (
				<>
					<progress max="1" value={mine.part.value} aria-label="recorded" />
					<span role="status">{mine.words.value}</span>
					<button type="button" onClick={mine.stop}>{mine.text.value ? "Close" : "Cancel"}</button>
					{mine.text.value && <button type="button" class="main" onClick={() => save(file, new Blob([mine.text.value], { type: "text/plain" }))}>Download</button>}
					{mine.text.value && <small class="soft">It replays, step by step, with <code>stile-lab open {file}</code>, or dropped on the page of the lab.</small>}
				</>
			)}
		</div>
	);
}
