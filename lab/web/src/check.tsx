// Check: everything that can happen in this setting, in every order, until it is proved
// or the shortest way to break it is found.

import { batch, computed, signal } from "@preact/signals";
import { refused } from "./backend";
import type { Fault } from "./document";
import { Lost } from "./link";
import { Panel, close } from "./panel";
import { doc, notice } from "./shown";
import { sitesOf } from "./stage";
import { branch, dialog, edit, lab, text } from "./state";

interface Progress {
	states: number;
	depth: number;
	seconds?: number;
	pass?: string; // what it looks for
}

/** As in check.Report. */
interface Verdict {
	algorithm: string;
	nodes: number;
	requests: number | string; // "unbounded", or "none" if no process asks
	network: string;
	losses?: number;
	verdict: string;
	states: number;
	depth: number;
	seconds: number;
	properties: { name: string; verdict: string; note: string }[];
	hint?: string; // note on a wrong algorithm that passes all the same
	shown?: string; // command that shows it
}

type Said = { progress: Progress } | { verdict: Verdict; means?: string[]; counterexample?: string; checked?: string };

interface State {
	state: "ready" | "running" | "stopped" | "over" | "failed";
	progress?: Progress;
	verdict?: Verdict;
	means?: string[]; // what it means that each property holds
	counterexample?: string;
	checked?: string; // what exactly was checked, in a sentence
	why?: string;
	of: string; // text that is checked
	crashes: number; // maximum number of crashes
}

const now = signal<State>({ state: "ready", of: "", crashes: 0 });
const requests = signal(2); // -1 means unbounded
const deaths = signal(1); // for algorithms made for crashes
let running: AbortController | undefined;

/** start checks the setting of the current text. */
async function start(): Promise<void> {
	stop();
	const mine = (running = new AbortController());
	const tell = (change: Partial<State>) => {
		if (mine === running) now.value = { ...now.value, ...change };
	};
	const crashes = doc.value?.algorithm.deaths ? deaths.value : 0;
	now.value = { state: "running", of: text.value, crashes };
	try {
		await lab.stream<Said>("check", { text: text.value, limits: { requests: requests.value, crashes } }, (line) => hear(line, tell), mine.signal);
		if (now.value.state === "running") tell({ state: "failed", why: "The check ended without a verdict: try again." });
	} catch (err) {
		if (mine.signal.aborted) return;
		tell({ state: "failed", why: err instanceof Lost ? "The connection to the lab was lost during the check. Start the check again when the lab is back." : String(err) });
	}
}

function hear(line: Said | { error: Fault }, tell: (change: Partial<State>) => void): void {
	if (refused(line)) tell({ state: "failed", why: line.error.text });
	else if ("progress" in line) tell({ progress: line.progress });
	else tell({ state: "over", verdict: line.verdict, means: line.means ?? [], counterexample: line.counterexample ?? "", checked: line.checked ?? "" });
}

/** moot says why there is nothing to check; empty if there is something. */
export const moot = computed(() => (doc.value?.kind === "graph" ? "A resource graph does not run, so there is nothing to check." : ""));

/** askCheck opens the dialog, or says why not. */
export function askCheck(): void {
	if (moot.value) notice.value = moot.value;
	else dialog.value = "check";
}

/** check opens the dialog and starts. */
export function check(): void {
	dialog.value = "check";
	void start();
}

/** stop ends the check that runs. */
function stop(): void {
	running?.abort();
	running = undefined;
	if (now.value.state === "running") now.value = { ...now.value, state: "stopped" };
}

/** show opens the counterexample as a branch, at its end. */
function show(): void {
	const found = now.value.counterexample!;
	batch(() => {
		close();
		branch("counterexample");
	});
	void edit(found, { cursor: Number.MAX_SAFE_INTEGER });
}

export function Check() {
	return (
		<Panel name="check" title="Check every interleaving" lead="Not one run but all of them: everything that can happen, in every order in which messages can arrive.">
			<Setting />
			<Standing />
		</Panel>
	);
}

function Setting() {
	const it = doc.value;
	const runs = now.value.state === "running";
	return (
		<div class="check-setting">
			<p>
				{it ? (
					<>
						<strong>{it.algorithm.title || it.algorithm.name || it.title}</strong>, {it.names.length - sitesOf(it)} processes, {it.network} network
					</>
				) : (
					"There is no scenario yet."
				)}
			</p>
			{!it?.algorithm.calls && (
				<label>
					Each process asks at most
					<select value={requests.value} disabled={runs} onChange={(e) => (requests.value = Number(e.currentTarget.value))}>
						<option value="1">once</option>
						<option value="2">twice</option>
						<option value="-1">without limit</option>
					</select>
				</label>
			)}
			{it?.algorithm.deaths && (
				<label>
					Processes that crash, at most
					<select value={deaths.value} disabled={runs} onChange={(e) => (deaths.value = Number(e.currentTarget.value))}>
						<option value="0">none</option>
						<option value="1">one</option>
						<option value="2">two</option>
					</select>
				</label>
			)}
			{runs ? (
				<button type="button" class="is-main" data-first onClick={stop}>Stop</button>
			) : (
				<button type="button" class="is-main" data-first disabled={!it} onClick={() => void start()}>{now.value.state === "ready" ? "Check" : "Check again"}</button>
			)}
		</div>
	);
}

/** What is proved, for properties named after what must not happen. */
const without: Record<string, string> = { deadlock: "freedom from deadlock", starvation: "freedom from starvation", bypass: "bounded bypass" };
const called = (property: string) => without[property] ?? property;

const count = (n: number) => n.toLocaleString("en");

function Standing() {
	const { state, progress, verdict, why, of } = now.value;
	const stale = state !== "ready" && of !== text.value;
	return (
		<div class={`check-standing is-${state}`}>
			{state === "ready" && <p>A check can take a moment or, with many processes, longer than you want to wait. You see its progress and can stop it.</p>}
			{(state === "running" || state === "stopped") && (
				<>
					<p role="status">{state === "running" ? "Checking …" : "Stopped. Nothing is proved, but no violation has been found so far."}</p>
					{state === "running" && <progress aria-label="Checking" />}
					<Numbers of={progress ?? { states: 0, depth: 0 }} />
				</>
			)}
			{state === "failed" && <p class="trouble" role="alert">{why}</p>}
			{state === "over" && verdict && <Outcome verdict={verdict} />}
			{stale && state !== "running" && <p class="check-stale">The text has changed since this check.</p>}
		</div>
	);
}

function Numbers({ of: { states, depth, seconds } }: { of: Progress }) {
	return (
		<dl class="numbers">
			<div><dt>states</dt><dd data-number="states">{count(states)}</dd></div>
			<div><dt>depth</dt><dd data-number="depth">{count(depth)}</dd></div>
			{seconds !== undefined && <div><dt>seconds</dt><dd>{seconds.toFixed(1)}</dd></div>}
		</dl>
	);
}

/** proved says what exactly was proved. */
function proved({ algorithm, nodes, network, requests, losses, properties }: Verdict, crashes: number): string {
	const all = properties.filter((p) => p.verdict.startsWith("holds")).map((p) => called(p.name));
	const asks = typeof requests === "number" ? `, when each process asks at most ${requests === 1 ? "once" : requests === 2 ? "twice" : `${requests} times`}` : requests === "unbounded" ? ", however often they ask" : "";
	const crash = crashes > 0 ? `, of which at most ${crashes === 1 ? "one crashes" : `${crashes} crash`},` : "";
	const lost = losses ? `, and at most ${losses} messages are lost` : "";
	return `${algorithm} with ${nodes} processes${crash} on a network that is ${network}${asks}${lost}: ${all.join(", ")} ${all.length === 1 ? "holds" : "hold"} in every order of events.`;
}

function Outcome({ verdict }: { verdict: Verdict }) {
	const broken = verdict.properties.find((p) => p.verdict === "violated");
	const good = verdict.verdict.startsWith("holds");
	return (
		<>
			<p class={`check-verdict ${broken ? "is-broken" : good ? "is-proved" : ""}`} role="status">
				<strong>{broken ? "Broken." : good ? "Proved." : "Not finished."}</strong>{" "}
				{broken ? `${called(broken.name)} is violated${broken.note.startsWith("after ") ? " " : ": "}${broken.note}.` : good ? proved(verdict, now.value.crashes) : "The check ran out of time or memory. Use fewer processes or requests, or the command line."}
			</p>
			<Numbers of={verdict} />
			{now.value.checked && <p class="check-what"><b>Checked:</b> {now.value.checked}</p>}
			{verdict.hint && <p>{verdict.hint}</p>}
			{verdict.shown && <p>To reproduce it: <code>{verdict.shown}</code></p>}
			{now.value.counterexample && (
				<p>
					<button type="button" class="is-main" onClick={show}>Open the shortest counterexample as a branch</button>
				</p>
			)}
			{verdict.properties.length > 0 && (
				<table class="check-properties">
					<caption class="unseen">What was checked</caption>
					<thead>
						<tr><th>property</th><th>verdict</th><th>details</th></tr>
					</thead>
					<tbody>
						{verdict.properties.map((p, i) => (
							<tr key={p.name} class={p.verdict.startsWith("holds") ? "is-met" : p.verdict === "violated" ? "is-unmet" : ""}>
								<th scope="row">{called(p.name)}{now.value.means?.[i] && <small>{now.value.means[i]}</small>}</th>
								<td>{p.verdict.startsWith("holds") ? "✓ holds" : p.verdict === "violated" ? "✗ violated" : p.verdict.replaceAll("-", " ")}</td>
								<td>{p.note}</td>
							</tr>
						))}
					</tbody>
				</table>
			)}
		</>
	);
}
