// Small parts that all views share.

import type { ComponentChildren, JSX } from "preact";
import { blink, second } from "./clock";
import { contact } from "./contact";
import { age, ago, clock, duration, iso } from "./format";
import { Name, plain } from "./name";
import type { Holder, Party, Process, Silent } from "./views";

/** Age says how long ago something was, and keeps that up to date. */
export function Age({ since }: { since: number }): JSX.Element {
	return <time class="age" dateTime={iso(since)} title={`since ${clock(since)}`}>{age((second.value - since) / 1000)}</time>;
}

/** Ago is Age in a sentence. */
export function Ago({ at }: { at: number }): JSX.Element {
	const s = (second.value - at) / 1000;
	return <time class="age" dateTime={iso(at)} title={clock(at)}>{ago(s)}</time>;
}

/** Moment is the time of the day of something. */
export function Moment({ at }: { at: number }): JSX.Element {
	return <time class="moment" dateTime={iso(at)}>{clock(at)}</time>;
}

/** Left counts down to a moment, beside a bar that is full if all of a span is left. */
export function Left({ until, span }: { until: number; span: number }): JSX.Element {
	const s = Math.max(0, (blink.value - until) / -1000);
	return <Gauge label="lease left" value={s} of={span} text={s > 0 ? `${s.toFixed(1)} s` : "expired"} />;
}

interface GaugeProps {
	label: string;
	value: number;
	of: number;
	text?: string;
	mark?: number | undefined; // the least value lately
}

/** Gauge shows how much of something is left; a fifth of it is little. */
export function Gauge({ label, value, of, mark, text }: GaugeProps): JSX.Element {
	const part = (v: number) => Math.max(0, Math.min(100, of > 0 ? (v / of) * 100 : 0));
	const known = mark !== undefined && mark >= 0;
	const words = text ?? duration(known ? mark : value);
	const little = (known ? Math.min(value, mark) : value) < of / 5;
	return (
		<span class={`gauge${little ? " little" : ""}`} title={`${label}: ${text ?? duration(value)} of ${duration(of)}${known ? `; at its renewals, ${duration(mark)} or more` : ""}`}>
			<svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
				<rect class="gauge-of" width="100" height="6" />
				<rect class="gauge-is" width={part(value)} height="6" />
				{known && <rect class="gauge-mark" x={Math.min(98, part(mark))} width="2" height="6" />}
			</svg>
			<span>{words}</span>
		</span>
	);
}

interface PanelProps {
	title: string;
	aside?: ComponentChildren; // beside the title
	class?: string;
	children: ComponentChildren;
}

/** Panel is a part of a view, with a heading. */
export function Panel({ title, aside, class: name = "", children }: PanelProps): JSX.Element {
	return (
		<section class={`part ${name}`} aria-label={title}>
			<h2>{title}{aside !== undefined && <> <span>{aside}</span></>}</h2>
			{children}
		</section>
	);
}

/** Who is a process: its proven identity, and what it calls itself. */
export function Who({ of, cut = false }: { of: Pick<Process, "who" | "identity" | "label">; cut?: boolean }): JSX.Element {
	const { who, identity, label } = of;
	if (!identity && !label) return <Name of={who} cut={cut} />;
	return (
		<span class={cut ? "who cut" : "who"} title={plain(who)}>
			{identity && <Name of={identity} class="identity" title={`${plain(who)}: this is its identity, which is proven`} />}
			{identity && label && <span class="soft"> · </span>}
			{label && <Name of={label} title={`${plain(who)}: this is its label, which the client chose`} />}
		</span>
	);
}

/** Demand is what a request for a kept lock has, if that is not all of it. */
export function Demand({ of: { mode, units, of, tx } }: { of: Party }): JSX.Element | null {
	const words = units && of ? `${units} of ${of}` : mode && mode !== "exclusive" ? mode : "";
	if (words === "" && !tx) return null;
	return <>{words && <span class="tag"><Name of={words} /></span>}{tx ? <span class="tag">tx {tx}</span> : null}</>;
}

/** What it means that a lock is delegated. */
export const delegation = "Its client acquires and releases the lock by itself, without a message, until it is wanted elsewhere. It need not be in use now.";

/** Delegated says that the lock is delegated to the client of its holder. */
export function Delegated({ of }: { of: Holder }): JSX.Element | null {
	return of.delegated ? <span class="tag delegated" title={delegation}>delegated</span> : null;
}

/** Quiet says which members do not answer, so that what is shown may miss what they know. */
export function Quiet({ silent }: { silent: Silent[] | undefined }): JSX.Element | null {
	if (!silent || silent.length === 0) return null;
	return (
		<div class="notice warn" role="status">
			{silent.map(({ node, why }) => <p key={node}>No answer from <Name of={node} />, whose part is missing: <Name of={why} />.</p>)}
		</div>
	);
}

/** Trouble says why what is shown may be out of date. */
export function Trouble({ why }: { why: string }): JSX.Element | null {
	if (contact.value.state !== "live") return null; // there is a notice above
	return why === "" ? null : <div class="notice warn" role="alert"><p><Name of={why} /></p></div>;
}

/** arrows moves the focus between the rows of a list by keyboard. */
export function arrows(e: KeyboardEvent & { currentTarget: HTMLElement }): void {
	if (e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
	const all = [...e.currentTarget.querySelectorAll<HTMLElement>("[data-row]")];
	const now = all.findIndex((it) => it.contains(document.activeElement) || it.closest("tr")?.contains(document.activeElement));
	const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 }[e.key];
	if (to === undefined || !all[to]) return;
	e.preventDefault();
	all[to].focus();
	all[to].scrollIntoView({ block: "nearest" });
}
