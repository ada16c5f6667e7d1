// New: a scenario from a few choices. The lab writes its text.

import { computed, signal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { type Known, known } from "./answers";
import { refused } from "./backend";
import { Panel, Trouble, close } from "./panel";
import { open, lab } from "./state";

const name = signal("ricart-agrawala");
const nothing = "nothing";
const after = signal(nothing); // a crash
const processes = signal("3");
const network = signal("fifo");
const latency = signal("1");
const hold = signal("1");
const workload = signal("all");
const seed = signal("1");
const steps = signal(false);
const options = signal<Record<string, string>>({});
const trouble = signal("");

const all = computed(() => (known.answer.value && !refused(known.answer.value) ? known.answer.value : []));
const plain = computed(() => all.value.filter((a) => !a.lock));
const surviving = computed(() => all.value.filter((a) => a.lock === name.value));
const chosen = computed(() => (after.value === nothing ? plain.value.find((a) => a.name === name.value) : surviving.value.find((a) => a.after === after.value)));
const families = computed(() => [...new Set(plain.value.map((a) => a.family))]);

/** The options of an algorithm, and how they are presented. */
const abouts: Record<string, { label: string; hint: string; numeric?: boolean; yes?: boolean }> = {
	topology: { label: "Topology", hint: "shape of the network" },
	sets: { label: "Sets", hint: "the processes that each one asks, such as 1:1,2;2:1,2,3;3:1,3" },
	inform: { label: "Inform sets", hint: "the processes that each one informs, such as 1:1;2:1,2;3:1,3; by default its set" },
	experiment: { label: "Experiment", hint: "allow sets that break the rules", yes: true },
	k: { label: "K", hint: "number of values of a variable", numeric: true },
	coordinator: { label: "Coordinator", hint: "number of the coordinating process", numeric: true },
	patience: { label: "Patience", hint: "latencies after which a waiting process doubts", numeric: true },
	mode: { label: "Mode", hint: "when sites report" },
};

/** ranged says what is wrong with the number of processes; empty if it is valid. */
function ranged(of: Known | undefined): string {
	const n = Number(processes.value);
	if (!Number.isInteger(n) || n < 1) return "Enter the number of processes as a whole number.";
	if (of && n < of.least) return `${of.title} needs at least ${of.least} processes.`;
	if (of && n > of.most) return `${of.title} has at most ${of.most} processes here.`;
	return "";
}

async function write(): Promise<void> {
	trouble.value = ranged(chosen.value);
	if (trouble.value !== "") return;
	const set = Object.entries(options.value).filter(([, value]) => value.trim() !== "");
	const words = set.map(([name, value]) => [name, abouts[name]?.yes ? true : abouts[name]?.numeric ? Number(value) : value.trim()] as const);
	const odd = [...words, ["seed", Number(seed.value)] as const].find(([, value]) => typeof value === "number" && !Number.isInteger(value));
	if (odd) {
		trouble.value = `The ${odd[0]} must be a whole number.`;
		return;
	}
	const answer = await lab.call<{ text: string }>("fresh", {
		algorithm: chosen.value?.name ?? name.value,
		processes: Number(processes.value),
		...Object.fromEntries(words),
		network: network.value,
		latency: latency.value,
		...(chosen.value?.calls ? {} : { hold: hold.value }),
		workload: workload.value,
		seed: Number(seed.value),
		steps: steps.value,
	});
	if (refused(answer)) {
		trouble.value = answer.error.text;
		return;
	}
	close();
	await open(answer.text);
}

export function Fresh() {
	return (
		<Panel name="fresh" title="A new scenario" lead="Choose, and the lab writes the text. You can change all of it afterwards.">
			<Form />
		</Panel>
	);
}

function Form() {
	useEffect(() => void known.fetch(), []);
	const answer = known.answer.value;
	if (!answer) return <p role="status">Fetching the algorithms …</p>;
	if (refused(answer))
		return (
			<>
				<Trouble what="The algorithms could not be loaded" of={answer} />
				<button type="button" onClick={() => void known.fetch()}>Try again</button>
			</>
		);
	return <Choices />;
}

function Choices() {
	const first = useRef<HTMLSelectElement>(null);
	const of = chosen.value;
	useEffect(() => first.current!.focus(), []);
	return (
		<form
			class="fresh"
			noValidate
			onSubmit={(e) => {
				e.preventDefault();
				void write();
			}}
		>
			<label class="is-wide">
				Algorithm
				<select
					ref={first}
					value={name.value}
					onChange={(e) => {
						name.value = e.currentTarget.value;
						after.value = nothing;
						options.value = {};
					}}
				>
					{families.value.map((family) => (
						<optgroup key={family} label={family}>
							{plain.value.filter((a) => a.family === family).map((a) => (
								<option key={a.name} value={a.name}>{a.title} ({a.name}){a.wrong ? " · wrong" : ""}</option>
							))}
						</optgroup>
					))}
				</select>
			</label>
			<About of={of} />
			<Field label="Processes" value={processes} numeric hint={rangeOf(of)} />
			{of?.family !== "deadlock" && (
				<label>
					Network
					<select value={network.value} onChange={(e) => (network.value = e.currentTarget.value)}>
						{["fifo", "unordered", "duplicating", "lossy"].map((kind) => <option key={kind}>{kind}</option>)}
					</select>
				</label>
			)}
			{surviving.value.length > 0 && (
				<label>
					After a crash
					<select
						value={after.value}
						onChange={(e) => {
							after.value = e.currentTarget.value;
							options.value = {};
						}}
					>
						<option value={nothing}>do nothing</option>
						{surviving.value.map((a) => <option key={a.name} value={a.after}>{a.after}{a.wrong ? " · wrong" : ""}</option>)}
					</select>
				</label>
			)}
			{of?.options.map((o) => <Option key={o} name={o} />)}
			<label>
				Schedule
				<select value={steps.value ? "steps" : "timed"} onChange={(e) => (steps.value = e.currentTarget.value === "steps")}>
					<option value="timed">by time</option>
					<option value="steps">by hand, step by step</option>
				</select>
			</label>
			{!steps.value && (
				<>
					<Field label="Latency of a message" value={latency} hint="1, exp:1 or uniform:0.5,1.5" />
					{!of?.calls && <Field label="Time inside" value={hold} hint={of?.family === "deadlock" ? "with each lock: 5 or exp:2" : "5, exp:2 or manual"} />}
				</>
			)}
			<label>
				Requests
				<select value={workload.value} onChange={(e) => (workload.value = e.currentTarget.value)}>
					<option value="all">all processes, in turn</option>
					<option value="one">only P1</option>
					<option value="none">none yet</option>
				</select>
			</label>
			<Field label="Seed" value={seed} numeric hint="selects one of many runs" />
			{trouble.value !== "" && <p class="trouble is-wide" role="alert">{trouble.value}</p>}
			<div class="is-wide fresh-do">
				<button type="submit" class="is-main">Write it</button>
			</div>
		</form>
	);
}

function rangeOf(of: Known | undefined): string {
	if (!of) return "";
	return `${of.least} to ${of.most}`;
}

function About({ of }: { of: Known | undefined }) {
	if (!of) return null;
	return (
		<div class="fresh-about is-wide">
			{of.wrong && <p class="is-unmet"><strong>Wrong on purpose:</strong> {of.wrong}</p>}
			{of.weaker && <p><strong>Promises less:</strong> {of.weaker}</p>}
			<p>{of.class && `${of.class[0]!.toUpperCase()}${of.class.slice(1)}. `}{of.paper}{of.network && `. Correct on a network that is ${of.network}, or better.`}</p>
		</div>
	);
}

function Option({ name }: { name: string }) {
	const id = useId();
	const { label, hint, numeric, yes } = abouts[name]!;
	const value = options.value[name] ?? "";
	const say = (value: string) => (options.value = { ...options.value, [name]: value });
	if (yes)
		return (
			<label>
				{label}
				<input type="checkbox" checked={value !== ""} onChange={(e) => say(e.currentTarget.checked ? "yes" : "")} />
				<small>{hint}</small>
			</label>
		);
	const values = chosen.value?.values?.[name];
	return (
		<label>
			{label}
			<input list={values && id} inputMode={numeric ? "numeric" : "text"} value={value} placeholder="default" onInput={(e) => say(e.currentTarget.value)} />
			{values && <datalist id={id}>{values.map((v) => <option key={v} value={v} />)}</datalist>}
			<small>{hint}{values && `: ${values.join(", ")}`}{values?.includes("star") && ", or edges such as 1-2,1-3"}</small>
		</label>
	);
}

function Field({ label, value, hint, numeric }: { label: string; value: typeof seed; hint: string; numeric?: boolean }) {
	return (
		<label>
			{label}
			<input value={value.value} inputMode={numeric ? "numeric" : "text"} onInput={(e) => (value.value = e.currentTarget.value)} />
			{hint && <small>{hint}</small>}
		</label>
	);
}
