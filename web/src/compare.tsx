// Compare: algorithms over the number of processes, the rest and the hold, measured
// beside theory. Every cell opens its run.

import { computed, signal } from "@preact/signals";
import { refused } from "./backend";
import { Lost } from "./link";
import { Panel, close } from "./panel";
import { edit, lab } from "./state";

interface Cell {
	algorithm: string;
	n: number;
	rest: string;
	hold: string;
	measured: string;
	theory: string; // empty if it says nothing
	fits: boolean;
	skipped?: string; // why it cannot run there
	text: string; // opens it in the lab
}

type Line = { cell: Cell } | { cells: Cell[] } | { progress: { done: number; of: number } };

const sizes = signal("3, 5, 9, 16");
const rest = signal("0");
const hold = signal("1");
const cells = signal<Cell[]>([]);
const state = signal<"ready" | "running" | "stopped" | "over">("ready");
const trouble = signal("");
let running: AbortController | undefined;

const rows = computed(() => [...new Set(cells.value.map((c) => c.algorithm))]);
const columns = computed(() => [...new Set(cells.value.map((c) => c.n))].sort((a, b) => a - b));
const at = computed(() => new Map(cells.value.map((c) => [`${c.algorithm} ${c.n}`, c])));

/** list reads numbers that are separated by commas or blanks. */
function list(words: string): number[] | undefined {
	const all = words.split(/[\s,]+/).filter(Boolean).map(Number);
	return all.length > 0 && all.every((n) => Number.isInteger(n) && n > 0) ? all : undefined;
}

async function start(): Promise<void> {
	const n = list(sizes.value);
	if (!n) {
		trouble.value = "Say how many processes: whole numbers such as 3, 5, 9.";
		return;
	}
	stop();
	const mine = (running = new AbortController());
	trouble.value = "";
	cells.value = [];
	state.value = "running";
	try {
		await lab.stream<Line>("compare", { n, rest: rest.value, hold: hold.value }, (line) => {
			if (mine.signal.aborted) return;
			if (refused(line)) trouble.value = line.error.text;
			else if ("cell" in line) cells.value = [...cells.value, line.cell];
			else if ("cells" in line) cells.value = [...cells.value, ...line.cells];
		}, mine.signal);
	} catch (err) {
		if (mine.signal.aborted) return;
		trouble.value = err instanceof Lost ? "The lab went away in the middle of it. As soon as it is back you can start anew." : String(err);
	}
	if (mine === running) state.value = "over";
}

function stop(): void {
	running?.abort();
	running = undefined;
	if (state.value === "running") state.value = "stopped";
}

export function Compare() {
	return (
		<Panel name="compare" title="Compare" lead="Messages per entry, measured beside what theory says. Every cell opens its run in the lab.">
			<form
				class="compare-form"
				onSubmit={(e) => {
					e.preventDefault();
					void start();
				}}
			>
				<Field label="Processes" value={sizes} first hint="whole numbers, with commas" />
				<Field label="Rest between requests" value={rest} hint="0 is saturation; exp:50 by chance" />
				<Field label="Time inside" value={hold} hint="in message latencies" />
				{state.value === "running" ? <button type="button" class="is-main" onClick={stop}>Stop</button> : <button type="submit" class="is-main">Compare</button>}
			</form>
			{trouble.value !== "" && <p class="trouble" role="alert">{trouble.value}</p>}
			<p role="status" class="said">
				{state.value === "running" && `Measuring … ${cells.value.length} runs so far`}
				{state.value === "stopped" && `Stopped after ${cells.value.length} runs.`}
				{state.value === "over" && trouble.value === "" && `${cells.value.length} runs.`}
			</p>
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
		<div class="compare-map" tabIndex={0} role="region" aria-label="Measured beside theory">
			<table>
				<thead>
					<tr>
						<th scope="col">algorithm</th>
						{columns.value.map((n) => <th key={n} scope="col">N = {n}</th>)}
					</tr>
				</thead>
				<tbody>
					{rows.value.map((name) => (
						<tr key={name}>
							<th scope="row">{name}</th>
							{columns.value.map((n) => <td key={n}><One cell={at.value.get(`${name} ${n}`)} /></td>)}
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

function One({ cell }: { cell: Cell | undefined }) {
	if (!cell) return null;
	if (cell.skipped) return <span class="compare-skipped" title={cell.skipped}>–<span class="unseen">{cell.skipped}</span></span>;
	return (
		<button
			type="button"
			class={cell.fits ? "compare-cell" : "compare-cell is-unmet"}
			aria-label={`${cell.algorithm}, ${cell.n} processes: measured ${cell.measured}, theory ${cell.theory || "says nothing"}. Open in the lab`}
			onClick={() => {
				close();
				void edit(cell.text, { cursor: 0 });
			}}
		>
			<strong>{cell.measured}</strong>
			<small>{cell.theory || "–"}</small>
		</button>
	);
}
