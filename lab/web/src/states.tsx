// What each process remembers at the cursor. What the last step changed is marked.

import { Component } from "preact";
import { useMemo } from "preact/hooks";
import type { Doc } from "./document";
import { changedAt, frameAt } from "./frames";
import { Scroll, useRows } from "./scroll";
import { cursor, doc } from "./shown";
import { clockOf, stepBefore, timeAt } from "./story";

const mostColumns = 12; // with more fields than that, they are listed in a row
const fewColumns = 5; // with more fields than that, the table is wider than the room for it
const mostRows = 40; // with more than that, each is one line high, and only the visible ones exist
const high = 26; // height of a row then, in pixels

export function States() {
	const d = doc.value;
	if (!d) return <section class="states" aria-label="states" />;
	const at = cursor.value;
	return (
		<section class="states" aria-label="states">
			<h2>States {d.steps ? `after ${at} event${at === 1 ? "" : "s"}` : `at ${clockOf(d, timeAt(d, at))}`} <span>what the last step changed is marked</span></h2>
			<Table d={d} at={at} />
		</section>
	);
}

function Table({ d, at }: { d: Doc; at: number }) {
	const frame = frameAt(d, at);
	const changed = changedAt(d, stepBefore(d, at), at);
	const columns = useMemo(() => columnsOf(d), [d]);
	const wide = columns.length > mostColumns;
	const waits = useMemo(() => d.deltas.some((x) => x.wait) || d.keys[0]?.waits.some(Boolean), [d]);
	const { ref, top, ...rows } = useRows(d.names.length, high);
	const many = d.names.length > mostRows;
	const { from, to } = many ? rows : { from: 0, to: d.names.length };
	return (
		<Scroll inner={ref} label="table of states" onScroll={(e) => (top.value = e.scrollTop)}>
			<table class={many ? "many" : columns.length > fewColumns ? "broad" : ""} aria-rowcount={d.names.length + 1}>
				<thead>
					<tr aria-rowindex={1}>
						<th scope="col"><span class="unseen">process</span></th>
						<th scope="col">status</th>
						{wide ? <th scope="col">fields</th> : columns.map((c) => <th key={c} scope="col">{c}</th>)}
						{waits && <th scope="col">waits for</th>}
					</tr>
				</thead>
				<tbody>
					<Gap rows={from} />
					{d.names.slice(from, to).map((name, k) => {
						const i = from + k;
						return <Row key={i} lane={i} name={name} fields={frame.states[i] ?? []} status={frame.status[i] ?? ""} wait={waits ? frame.waits[i] ?? "" : undefined} columns={columns} wide={wide} changed={changed.get(i)} />;
					})}
					<Gap rows={d.names.length - to} />
				</tbody>
			</table>
		</Scroll>
	);
}

/** Gap is as high as the rows that do not exist. */
function Gap({ rows }: { rows: number }) {
	return rows > 0 ? <tr aria-hidden="true"><td class="gap" style={{ height: `${rows * high}px` }} /></tr> : null;
}

interface RowProps {
	lane: number;
	name: string;
	fields: (readonly [string, string])[];
	status: string;
	wait: string | undefined; // undefined if no process ever waits
	columns: string[];
	wide: boolean;
	changed: Set<string> | undefined;
}

/** Row is repainted only if something in it changes: there may be hundreds. */
class Row extends Component<RowProps> {
	override shouldComponentUpdate(next: RowProps): boolean {
		const { fields, status, wait, columns, changed } = this.props;
		return fields !== next.fields || status !== next.status || wait !== next.wait || columns !== next.columns || Boolean(changed) || Boolean(next.changed);
	}

	override render({ lane, name, fields, status, wait, columns, wide, changed }: RowProps) {
		const mark = (what: string) => (changed?.has(what) ? "changed" : "");
		const values = new Map(fields);
		return (
			<tr class={`is-${status}`} aria-rowindex={lane + 2}>
				<th scope="row">{name}</th>
				<td class={`status ${mark("")}`}>{status}</td>
				{wide
					? <td class="fields">{told(fields).map(([f, v]) => <span key={f} class={mark(f)}><i>{f}</i> {v} </span>)}</td>
					: columns.map((c) => <td key={c} class={mark(c)}>{values.get(c) ?? ""}</td>)}
				{wait !== undefined && <td class={`wait-for ${mark("?")}`} title={wait}>{wait.replace(/^(is paused, and )?(has been )?wait(?:s|ing) (?:(?:for|because) )?/, "")}</td>}
			</tr>
		);
	}
}

/** told leaves out fields that say nothing, if there are too many to show all. */
function told(fields: (readonly [string, string])[]): (readonly [string, string])[] {
	return fields.filter(([, v]) => v !== "none" && v !== "no" && v !== "0");
}

/** columnsOf returns all fields that a state ever has, in the order of first appearance. */
function columnsOf(d: Doc): string[] {
	const names = new Set<string>();
	for (const states of d.keys[0]?.states ?? []) for (const [name] of states) names.add(name);
	for (const { set } of d.deltas) for (const [name] of set ?? []) names.add(name);
	return [...names];
}
