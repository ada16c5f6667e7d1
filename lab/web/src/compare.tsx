// Compare: algorithms over the number of processes, the rest and the hold, measured next
// to theory. Every cell opens its run.

import { computed, signal } from "@preact/signals";
import { refused } from "./backend";
import { Lost } from "./link";
import { Panel, close } from "./panel";
import { open, lab } from "./state";

/** A range, as in algorithm.Range. */
interface Range {
	lo: number;
	hi: number;
}

/** As in compare.RunReport. */
interface Cell {
	algorithm: string;
	nodes: number;
	think: string;
	hold: string;
	skipped?: string; // why it cannot run there
	stopped?: boolean;
	messages_per_entry: number;
	sync_delay: number | null;
	throughput: number;
	theory: Partial<Record<Measured, Range | null>>;
	text: string; // scenario that opens it in the lab
}

type Measured = "messages_per_entry" | "sync_delay" | "throughput";

interface Answer {
	cells: Cell[];
	best: { measure: string; nodes: number; think: string; hold: string; algorithms: string[] }[];
	stopped?: boolean;
}

/** A cell that has just been measured: one of the map that was announced first. */
interface Found {
	at: number;
	done: number;
	total: number;
	cell: Cell;
}

const measures: { key: Measured; name: string }[] = [
	{ key: "messages_per_entry", name: "messages per entry" },
	{ key: "sync_delay", name: "synchronisation delay, in T" },
	{ key: "throughput", name: "entries per T" },
];

const sizes = signal("3, 5, 9");
const rest = signal("0, 100");
const hold = signal("1");
const answer = signal<Answer>({ cells: [], best: [] });
const measure = signal<Measured>("messages_per_entry");
const state = signal<"ready" | "running" | "stopped" | "over">("ready");
const trouble = signal("");
const done = signal(0);
let running: AbortController | undefined;

const cells = computed(() => answer.value.cells);
const place = ({ nodes, think, hold }: { nodes: number; think: string; hold: string }) => `${nodes} ${think} ${hold}`;
const rows = computed(() => [...new Set(cells.value.map((c) => c.algorithm))]);
/** The places of the map, in order. */
const columns = computed(() => [...new Map(cells.value.map((c) => [place(c), c])).values()]);
const at = computed(() => new Map(cells.value.map((c) => [`${c.algorithm} ${place(c)}`, c])));
const best = computed(() => new Set(answer.value.best.filter((b) => b.measure === measure.value).flatMap((b) => b.algorithms.map((a) => `${a} ${place(b)}`))));

/** list parses numbers separated by commas or blanks. */
function list(words: string, whole: boolean): number[] | undefined {
	const all = words.split(/[\s,]+/).filter(Boolean).map(Number);
	return all.length > 0 && all.every((n) => (whole ? Number.isInteger(n) && n > 0 : n >= 0)) ? all : undefined;
}

async function start(): Promise<void> {
	const [n, rests, holds] = [list(sizes.value, true), list(rest.value, false), list(hold.value, false)];
	if (!n || !rests || !holds) {
		trouble.value = n ? "Enter times as numbers, such as 0, 10, 100." : "Enter the numbers of processes as whole numbers, such as 3, 5, 9.";
		return;
	}
	stop();
	const mine = (running = new AbortController());
	trouble.value = "";
	state.value = "running";
	done.value = 0;
	try {
		await lab.stream<Answer | { found: Found }>("compare", { n, rest: rests, hold: holds }, (line) => {
			if (mine.signal.aborted) return;
			if (refused(line)) trouble.value = line.error.text;
			else if ("found" in line) fill(line.found);
			else answer.value = line;
		}, mine.signal);
	} catch (err) {
		if (mine.signal.aborted) return;
		trouble.value = err instanceof Lost ? "The connection to the lab was lost during the comparison. Start it again when the lab is back." : String(err);
	}
	if (mine === running) state.value = "over";
}

/** fill puts a cell into the map. */
function fill({ at, done: n, cell }: Found): void {
	answer.value = { ...answer.value, cells: answer.value.cells.map((c, i) => (i === at ? cell : c)) };
	done.value = n;
}

function stop(): void {
	running?.abort();
	running = undefined;
	if (state.value === "running") state.value = "stopped";
}

export function Compare() {
	return (
		<Panel name="compare" title="Compare" lead="All correct algorithms, measured and set beside theory. Every cell opens such a run in the lab.">
			<form
				class="compare-form"
				onSubmit={(e) => {
					e.preventDefault();
					void start();
				}}
			>
				<Field label="Processes" value={sizes} first hint="whole numbers, with commas" />
				<Field label="Rest between requests" value={rest} hint="in T; 0 is saturation" />
				<Field label="Time inside" value={hold} hint="in T, a message's latency" />
				{/* The buttons have keys, because a button that turns into the other one while it is clicked would submit the form. */}
				{state.value === "running" ? <button key="stop" type="button" class="is-main" onClick={stop}>Stop</button> : <button key="start" type="submit" class="is-main">Compare</button>}
			</form>
			{trouble.value !== "" && <p class="trouble" role="alert">{trouble.value}</p>}
			<p role="status" class="said">
				{state.value === "running" && `Measuring … ${done.value} of ${cells.value.length} runs`}
				{state.value === "stopped" && `Stopped after ${done.value} of ${cells.value.length} runs: the results so far are below.`}
				{state.value === "over" && trouble.value === "" && `${cells.value.length} runs${answer.value.stopped ? ", not all of them finished" : ""}. The best in each column is marked.`}
			</p>
			{state.value === "running" && <progress aria-label="Measuring" max={cells.value.length || 1} value={done.value} />}
			{cells.value.length > 0 && <Chart />}
		</Panel>
	);
}

function Field({ label, value, hint, first }: { label: string; value: typeof sizes; hint: string; first?: boolean }) {
	return (
		<label>
			{label}
			<input data-first={first || undefined} value={value.value} size={10} onInput={(e) => (value.value = e.currentTarget.value)} />
			<small>{hint}</small>
		</label>
	);
}

function Chart() {
	return (
		<>
			<label class="compare-measure">
				Show
				<select value={measure.value} onChange={(e) => (measure.value = e.currentTarget.value as Measured)}>
					{measures.map((m) => <option key={m.key} value={m.key}>{m.name}</option>)}
				</select>
			</label>
			<div class="compare-map" tabIndex={0} role="region" aria-label="Measured beside theory">
				<table>
					<thead>
						<tr>
							<th scope="col">algorithm</th>
							{columns.value.map((c) => <th key={place(c)} scope="col">N = {c.nodes}<small>rest {c.think}, hold {c.hold}</small></th>)}
						</tr>
					</thead>
					<tbody>
						{rows.value.map((name) => (
							<tr key={name}>
								<th scope="row">{name}</th>
								{columns.value.map((c) => <td key={place(c)}><One cell={at.value.get(`${name} ${place(c)}`)} best={best.value.has(`${name} ${place(c)}`)} /></td>)}
							</tr>
						))}
					</tbody>
				</table>
			</div>
		</>
	);
}

const short = (n: number) => n.toLocaleString("en", { maximumFractionDigits: n < 10 ? 2 : 1 });

function said(range: Range | null | undefined): string {
	if (!range) return "";
	return range.lo === range.hi ? short(range.lo) : `${short(range.lo)} – ${short(range.hi)}`;
}

function One({ cell, best }: { cell: Cell | undefined; best: boolean }) {
	if (!cell) return null;
	if (cell.stopped && state.value === "running") return <span class="compare-skipped" aria-label="not measured yet">…</span>;
	const why = cell.skipped || (cell.stopped ? "the comparison was stopped before this run finished" : "");
	if (why) return <span class="compare-skipped" title={why}>–<span class="unseen">{why}</span></span>;
	const found = cell[measure.value];
	const theory = said(cell.theory[measure.value]);
	const measured = found === null ? "–" : short(found);
	return (
		<button
			type="button"
			class={best ? "compare-cell is-best" : "compare-cell"}
			aria-label={`${cell.algorithm}, ${cell.nodes} processes, rest ${cell.think}, hold ${cell.hold}: measured ${measured}${best ? ", the best" : ""}, theory ${theory || "has no value"}. Open in the lab`}
			onClick={() => {
				close();
				void open(cell.text);
			}}
		>
			<strong>{measured}{best && " ★"}</strong>
			<small>{theory ? `theory ${theory}` : "–"}</small>
		</button>
	);
}
