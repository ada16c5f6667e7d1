// What administrators can do. Each action first says what will happen to whom. The node decides
// whether it is allowed; the page only leaves out what it would refuse.

import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { present } from "./clock";
import { hello, post } from "./contact";
import { count, duration, some } from "./format";
import { Modal } from "./modal";
import { Name } from "./name";
import { ordered } from "./patch";
import type { Lock, Member, Overview, Party } from "./views";

/** An action, before it is confirmed. */
export interface Question {
	title: ComponentChildren;
	/** What will happen, and to whom. */
	says: ComponentChildren[];
	/** What to type before it can be done; empty for what one more press does. */
	types: string;
	does: string; // on the button
	method: string; // of the service Cluster
	body: Record<string, unknown>;
	/** What the node has done. */
	done: (answer: Record<string, unknown>) => ComponentChildren;
	/** An algorithm is chosen first, for the locks of a prefix. */
	choice?: true;
}

/** The action that waits to be confirmed. */
const asked = signal<Question | undefined>(undefined);

/** ask asks whether to do something. */
export function ask(question: Question): void {
	asked.value = question;
}

/** Dialogs is where it is confirmed. */
export function Dialogs() {
	const q = asked.value;
	return q ? <Confirm q={q} /> : null;
}

type Outcome = { state: "asking" } | { state: "doing" } | { state: "done"; words: ComponentChildren } | { state: "failed"; why: string };

function Confirm({ q }: { q: Question }) {
	const outcome = useSignal<Outcome>({ state: "asking" });
	const typed = useSignal("");
	const prefix = useSignal("");
	const algorithm = useSignal("");
	const call = useRef(new AbortController());
	const close = () => {
		call.current.abort(); // which does not undo what the node has begun
		asked.value = undefined;
	};
	const wanted = q.choice ? algorithm.value.trim() : q.types;
	const clear = !/[,=]/.test(prefix.value + wanted); // so the node can tell them apart
	const ready = q.choice ? wanted !== "" && typed.value === wanted && clear : typed.value === wanted;
	const run = async () => {
		if (!ready || outcome.value.state === "doing") return;
		outcome.value = { state: "doing" };
		try {
			const body = q.choice ? { algorithm: `${prefix.value === "" ? "" : `${prefix.value}=`}${wanted}` } : q.body;
			const answer = await post<Record<string, unknown>>(`../stile.v1.Cluster/${q.method}`, body, call.current.signal);
			outcome.value = { state: "done", words: q.done(answer) };
		} catch (err) {
			outcome.value = { state: "failed", why: err instanceof Error ? err.message : String(err) };
		}
	};
	const now = outcome.value;
	const over = now.state === "done" || now.state === "failed";
	return (
		<Modal title={q.title} class="confirm" onClose={close}>
			<form onSubmit={(e) => {
				e.preventDefault();
				void run();
			}}>
				{!over && q.choice && <Choose prefix={prefix} algorithm={algorithm} />}
				{!over && !clear && q.choice && <p class="off" role="alert">A prefix with a comma or an equals sign cannot be chosen for.</p>}
				{!over && <ul class="says">{q.says.map((it, i) => <li key={i}>{it}</li>)}<li class="soft">The node at {location.host} checks that you may do this, and writes it to its audit log.</li></ul>}
				{!over && wanted !== "" && (
					<label class="types"><span>Type <b><Name of={wanted} /></b> to confirm</span>
						<input {...(q.choice ? {} : { "data-first": true })} value={typed.value} onInput={(e) => (typed.value = e.currentTarget.value)} autocomplete="off" autocapitalize="off" spellcheck={false} dir="auto" />
					</label>
				)}
				{now.state === "done" && <div class="outcome" role="status"><p>{now.words}</p></div>}
				{now.state === "failed" && <div class="outcome failed" role="alert"><p><b>It was not done, or it is not known whether it was.</b></p><p><Name of={now.why} /></p></div>}
				<div class="answer">
					<button type="button" {...(q.types === "" && !q.choice ? { "data-first": true } : {})} onClick={close}>{over ? "Close" : "Cancel"}</button>
					{!over && <button type="submit" class="main breaks" disabled={!ready || now.state === "doing"}>{now.state === "doing" ? "Asking the node …" : q.does}</button>}
				</div>
			</form>
		</Modal>
	);
}

/** said returns a value of an answer as text. */
function said(answer: Record<string, unknown>, name: string): string {
	const it = answer[name];
	return typeof it === "string" || typeof it === "number" ? String(it) : "";
}

interface ChooseProps {
	prefix: { value: string };
	algorithm: { value: string };
}

function Choose({ prefix, algorithm }: ChooseProps) {
	return (
		<div class="choose">
			<label>Locks whose names begin with <input value={prefix.value} placeholder="(all others)" onInput={(e) => (prefix.value = e.currentTarget.value)} autocomplete="off" autocapitalize="off" spellcheck={false} dir="auto" data-first /></label>
			<label>Algorithm <input value={algorithm.value} list="algorithms" placeholder="such as raymond" required onInput={(e) => (algorithm.value = e.currentTarget.value)} autocomplete="off" autocapitalize="off" spellcheck={false} /></label>
			<datalist id="algorithms">{hello.value?.algorithms.map((name) => <option key={name} value={name} />)}</datalist>
		</div>
	);
}

/** releasing takes a lock from its holders. */
export function releasing(d: Lock): Question {
	const all = Object.values(d.holders ?? {});
	const next = ordered(d.waiters, d.order)[0];
	const left = Math.max(0, ...all.map((h) => ((h.lease_until_ms ?? 0) - present()) / 1000));
	return {
		title: <>Take <Name of={d.name} /> from {all.length === 1 ? "its holder" : `its ${count(all.length)} holders`}?</>,
		says: [
			...all.slice(0, 5).map((h) => <><b><Name of={h.who} /></b> is notified that it has lost the lock (fencing token <Name of={h.token} />{h.delegated && " or a later one"}). If it is <code>stile exec</code>, its command is killed.</>),
			...(all.length > 5 ? [<>So are {count(all.length - 5)} other holders.</>] : []),
			<>The lock can be acquired again when {all.length === 1 ? "the holder" : "they"} can no longer act on it{left > 0 ? `, within ${duration(left)}` : ""}. {next ? <>Then <b><Name of={next.who} /></b> is next.</> : "No request waits for it."}</>,
			<>A program that ignores the notice may still act. Only a resource that checks fencing tokens keeps it out.</>,
		],
		types: "", does: "Take it away", method: "ForceRelease", body: { name: d.name },
		done: (a) => <><b><Name of={said(a, "who") || "The holder"} /></b> has lost it{said(a, "token") && <> (fencing token <Name of={said(a, "token")} />)</>}.</>,
	};
}

/** evicting makes the cluster continue without a member. */
export function evicting(d: Overview, m: Member): Question {
	return {
		title: <>Evict <Name of={m.name} />?</>,
		says: [
			<>The cluster continues without <b><Name of={m.name} /></b>, whether it runs or not.</>,
			<>{m.held === 1 ? "The lock held through it is" : m.held ? `The ${some(m.held, "lock")} held through it are` : "Locks held through it are"} lost: {m.held === 1 ? "its holder is" : m.held ? "their holders are" : "holders are"} notified, if it runs. {m.held === 1 ? "It" : "They"} can be acquired again when its lease has expired, within {duration(d.lease_s)}.</>,
			...(m.waiting ? [<>{some(m.waiting, "request")} {m.waiting === 1 ? "waits" : "wait"} at it, and {m.waiting === 1 ? "loses its place" : "lose their places"}.</>] : []),
			...(m.voter ? [<>It is a voter: another member votes instead, or the cluster has fewer voters.</>] : []),
			<>If it runs, it joins again. To stop a node, let it leave instead.</>,
		],
		types: m.name, does: "Evict it", method: "Evict", body: { node: m.name },
		done: (a) => <>The order was given in epoch {said(a, "epoch")}. A later view carries it out: it appears among the view changes.</>,
	};
}

/** leaving makes a node leave. */
export function leaving(d: Overview, m: Member): Question {
	return {
		title: <>Let <Name of={m.name} /> leave the cluster?</>,
		says: [
			<>Node <b><Name of={m.name} /></b> accepts no new requests, leaves the cluster, and its process ends. Start it again to let it join again.</>,
			<>It no longer renews {m.held === 1 ? "the lock held through it, which expires" : m.held ? `the ${some(m.held, "lock")} held through it, which expire` : "locks held through it, which expire"} within {duration(d.lease_s)}. {m.held === 1 ? "Its holder is" : m.held ? "Their holders are" : "Holders are"} notified.</>,
			<>{m.clients ? some(m.clients, "client") : "Clients"} connected to it must go on at other nodes.</>,
			...(m.voter ? [<>It gives up its vote: another member votes instead, or the cluster has fewer voters.</>] : []),
			...(m.name === d.node ? [<b>You are looking through this node: the page then moves to another.</b>] : []),
		],
		types: m.name, does: "Let it leave", method: "Leave", body: { node: m.name },
		done: (a) => <>Node <b><Name of={said(a, "node") || m.name} /></b> has begun to leave. It may take a lease.</>,
	};
}

/** moving moves the session of a client to another node. */
export function moving(p: Party): Question {
	return {
		title: <>Move the session of <Name of={p.who} />?</>,
		says: [
			<>The client of session {p.session} at node <b><Name of={p.node} /></b> is asked to use another node. It takes its locks along, and keeps them all the time.</>,
			<>Its requests that wait are made again there, and lose their places.</>,
			<>If it reaches no other node, it stays, and loses nothing.</>,
		],
		types: "", does: "Move it", method: "MoveSession", body: { node: p.node, session: BigInt(`0x${p.session ?? "0"}`).toString() },
		done: (a) => <><b><Name of={said(a, "who") || p.who} /></b> is asked to move. It holds {some(Number(said(a, "holds") || 0), "lock")}, and waits for {count(Number(said(a, "waits") || 0))}.</>,
	};
}

/** choosing changes which algorithm runs the locks of a prefix. */
export function choosing(d: Overview): Question {
	return {
		title: "Choose another algorithm",
		says: [
			<>The cluster uses <b><Name of={d.algorithm} /></b>. Choices that are not named stay.</>,
			<>All members change together, with the next view. Holders keep their locks, and requests keep waiting.</>,
			<>One exception: a hold that only kept locks can have, shared or of a semaphore, is lost if its lock is no longer kept. Its holder is notified.</>,
		],
		types: "", does: "Choose it", method: "Choose", body: {}, choice: true,
		done: (a) => <>The order was given in epoch {said(a, "epoch")}. A later view carries it out: then the cluster uses it.</>,
	};
}
