// The messages of a lock as they happen, in the lab's picture and diagram. The node writes
// down what its members do as a scenario, and its lab says what that looks like.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Badges } from "../badges";
import { Plot, fitted } from "../canvas";
import { Captions } from "../caption";
import { Controls } from "../controls";
import type { Doc, Fault } from "../document";
import { Group, titleOf } from "../group";
import { Legend } from "../legend";
import { pause } from "../link";
import { Minimap } from "../minimap";
import { cursor, doc, seek, total } from "../shown";
import { States } from "../states";
import { Why } from "../why";
import { Ago } from "./bits";
import { Refused, awake, known, post } from "./contact";
import { useFeed } from "./feed";
import { follows } from "./keys";
import { Name, plain } from "./name";
import { Seat } from "./seat";
import { open, record, recording } from "./record";
import type { Trail as View } from "./views";

/** Whether the diagram goes on with what happens; otherwise it can be looked at. */
const live = signal(true);

export function Trail({ name }: { name: string }) {
	const feed = useFeed<View>("trail", { name }, false);
	const fault = useSignal("");
	const view = feed.doc.value;
	useEffect(() => {
		live.value = true;
		return () => (doc.value = undefined);
	}, [name]);
	const gone = useMemo(() => new AbortController(), []);
	useEffect(() => () => gone.abort(), []);
	const latest = useRef<View | undefined>(undefined);
	const waits = useRef(false); // the latest is still to be shown
	const busy = useRef(false);
	// The lab lays out one scenario at a time: steps come faster than it may answer.
	const draw = async () => {
		busy.current = true;
		for (let tries = 0; waits.current && !gone.signal.aborted; ) {
			waits.current = false;
			const why = await show(latest.current!, () => !gone.signal.aborted && live.value && Boolean(latest.current?.text), gone.signal);
			if (why === "busy") {
				waits.current = true;
				await pause(tries++, gone.signal).catch(() => {});
			} else {
				tries = 0;
				fault.value = why;
			}
		}
		busy.current = false;
	};
	useEffect(() => {
		latest.current = view;
		if (view && !view.text) doc.value = undefined;
		waits.current = Boolean(view?.text) && live.value;
		if (!waits.current) fault.value = "";
		else if (!busy.current) void draw();
	}, [view?.text, live.value]);
	useEffect(() => {
		if (follows.value > pressed) (live.value = !live.value), (pressed = follows.value);
	}, [follows.value]);
	// Stepping back stops the diagram, to look at what is there.
	useEffect(() => {
		if (cursor.value < total.value) live.value = false;
	}, [cursor.value]);
	const why = feed.trouble.value || view?.why || fault.value;
	const d = fitted.value;
	const shown = doc.value;
	return (
		<div class="trail">
			<section class="scene" aria-label="the group">
				<h2>{titleOf(shown)} {shown && <span>{shown.scene.title}</span>}</h2>
				{shown ? <Group /> : <Empty view={view} why={why} />}
				{shown && <Why d={shown} />}
				<Controls />
			</section>
			<section class="diagram" aria-label="space and time">
				<h2>
					Space and time
					{view && <Follow view={view} />}
				</h2>
				{shown && why && <p class="notice warn small" role="status"><Name of={why} /></p>}
				{d && <Captions d={d} />}
				{d?.layout && d.events.length > 0 ? <Plot d={d} /> : <p class="plot empty">{shown ? "No message was sent yet." : ""}</p>}
				<Badges />
				{d?.layout && <Legend d={d} />}
				{d?.layout && d.events.length > 0 && <Minimap d={d} />}
				<Recorder name={name} />
			</section>
			<States />
			<Seat />
		</div>
	);
}

let pressed = 0; // as of the last time

function Empty({ view, why }: { view: View | undefined; why: string }) {
	return <div class="picture"><p class="nothing">{why ? <Name of={why} /> : view ? "Nothing has happened to this lock yet since it is followed." : "Asking the members to follow this lock …"}</p></div>;
}

function Follow({ view }: { view: View }) {
	return (
		<span class="choice">
			<button type="button" aria-pressed={live.value} title={live.value ? "stop here and look at it (f)" : "go on with what happens (f)"} onClick={() => (live.value = !live.value)}>{live.value ? "live" : "stopped"}</button>
			{!live.value && view.to_ms !== undefined && <small class="soft"> there is more since, last <Ago at={view.to_ms} /></small>}
		</span>
	);
}

/**
 * show has the lab lay out a scenario, and shows its end if that is still wanted. It returns why
 * it could not; busy if the lab has too much to do.
 */
async function show(view: View, wanted: () => boolean, signal: AbortSignal): Promise<string> {
	if (!awake.value) return "";
	try {
		const answer = await post<Doc & { error?: Fault }>("../lab/api/run", { text: view.text, spacing: "time" }, signal);
		if (!wanted()) return "";
		if (answer.error) return `the lab cannot show it: ${answer.error.text}`;
		doc.value = seated(answer, view.seats ?? []);
		seek(answer.events.length, true);
		return "";
	} catch (err) {
		if (!wanted()) return "";
		if (err instanceof Refused && err.status === 503) return "busy";
		return `the lab does not answer: ${err instanceof Error ? err.message : String(err)}`;
	}
}

const mostName = 14; // letters of a node beside its lane

/** seated adds the nodes to the names of the lanes. */
export function seated(d: Doc, seats: string[]): Doc {
	if (!d.layout || seats.length === 0) return d;
	const names = seats.map((s) => {
		const letters = [...plain(s)];
		return letters.length > mostName ? `${letters.slice(0, mostName - 1).join("")}…` : letters.join("");
	});
	const lanes = d.layout.lanes.map((l) => ({ ...l, x: 4, text: names[l.lane] ? `${l.text} ${names[l.lane]}` : l.text }));
	const left = Math.max(d.layout.page.left, 18 + 8.8 * Math.max(...lanes.map((l) => [...l.text].length)));
	return { ...d, layout: { ...d.layout, lanes, page: { ...d.layout.page, left } } };
}

/** Recorder records what happens, for the lab. */
function Recorder({ name }: { name: string }) {
	const now = recording.value;
	const mine = now?.name === name ? now : undefined;
	useEffect(() => () => recording.value?.stop(), [name]);
	return (
		<div class="recorder">
			{!mine && <button type="button" onClick={() => record(name)} title="record all that happens to this lock, and replay and change it in the lab">Record 10 s and open in the lab</button>}
			{mine && (
				<>
					<progress max="1" value={mine.part.value} aria-label="recorded" />
					<span role="status">{mine.words.value}</span>
					<button type="button" onClick={mine.stop}>{mine.text.value ? "Close" : "Cancel"}</button>
					{mine.text.value && <button type="button" class="main" onClick={() => void open(mine.text.value)}>{known() ? "Open in the lab" : "Keep the token in this tab, and open in the lab"}</button>}
				</>
			)}
		</div>
	);
}

