// The scenario, next to its picture: a text area over the same text in colours. What the
// lab found out about a line is shown after it.

import { computed, effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Doc, LineEvents } from "./document";
import { pieces } from "./colours";
import { byHand, copyCommand } from "./copy";
import { Press } from "./press";
import * as shown from "./shown";
import * as state from "./state";

/** Milliseconds without a key until what was typed runs. */
const pause = 250;
/**
 * Typing in one line is one change to undo, limited by the longest pause in it and by its
 * total duration, in milliseconds.
 */
const burst = { pause: 2000, whole: 10_000 };
/** Lines that are painted beyond the visible ones. */
const margin = 20;

/** The contents of the text area: the text, and what was typed since. */
const draft = signal("");
const lines = computed(() => draft.value.split("\n"));
const longest = computed(() => lines.value.reduce((most, line) => Math.max(most, line.length), 0));

let timer: ReturnType<typeof setTimeout> | undefined;
let typed = { text: "", at: 0, since: 0 }; // typed text that was last run, when, and when that change began

effect(() => {
	const next = state.text.value;
	if (!unsaid()) draft.value = next; // what is just being typed is a change of that, and no part of it is lost
});

function type(next: string): void {
	if (!sameLines(next, draft.value)) flush(); // what was typed before a new line is a change of its own
	draft.value = next;
	clearTimeout(timer);
	timer = setTimeout(flush, pause);
}

/** unsaid returns whether something was typed that has not run yet. */
export function unsaid(): boolean {
	return timer !== undefined;
}

/** flush runs what was typed, now. */
export function flush(): void {
	if (timer === undefined) return;
	clearTimeout(timer);
	timer = undefined;
	const next = draft.value;
	const now = Date.now();
	const keep = state.undoable.value // the first change of a branch stands on its own
		&& typed.text === state.text.value && sameLines(next, typed.text) && now - typed.at < burst.pause && now - typed.since < burst.whole;
	typed = { text: next, at: now, since: keep ? typed.since : now };
	void state.edit(next, { keep });
}

/** sameLines returns whether two texts have the same number of lines. */
function sameLines(a: string, b: string): boolean {
	return a.split("\n").length === b.split("\n").length;
}

/** lineAt returns the line whose events are at a cursor, or 0. */
function lineAt(doc: Doc | undefined, cursor: number): number {
	if (!doc || cursor === 0) return 0;
	const at = cursor - 1;
	return doc.events[at]?.line || (doc.lines.findLast(({ from, to }) => from <= at && at < to)?.line ?? 0);
}

/** The document, if it is that of the text: otherwise its lines are not the ones shown. */
const own = computed(() => (state.fault.value ? undefined : shown.doc.value));
const present = computed(() => lineAt(own.value, shown.cursor.value));
const comes = computed(() => new Map(own.value?.lines.map((l) => [l.line, l]) ?? []));
const expects = computed(() => {
	const by = new Map<number, { ok: boolean; text: string }>();
	for (const { line, ok, want, got } of own.value?.expects ?? []) {
		const before = by.get(line);
		if (!before || before.ok) by.set(line, { ok, text: ok ? "" : got || `not met: ${want}` });
	}
	return by;
});
/**
 * What a prepared text expects may differ once the text is changed: that is no error, as long
 * as the expectation is one of the prepared text.
 */
export const quiet = computed(() => {
	const was = new Set(state.prepared.value.split("\n").filter((l) => l.startsWith("expect")));
	const changed = state.prepared.value !== "" && state.text.value !== state.prepared.value;
	return (line: number) => changed && was.has(lines.value[line - 1] ?? "");
});
const unmet = computed(() => own.value?.expects.filter((e) => !e.ok) ?? []);

/**
 * tells returns whether a line may say what comes, which a quiz asks: it acts after the
 * cursor, or is a title, a caption, a comment, an expectation or something for a later moment.
 */
const tells = computed(() => (line: number) => {
	const it = comes.value.get(line);
	return it ? it.from >= shown.cursor.value : /^\s*(title|expect|at|when)\b|\bsay\b|#/.test(lines.value[line - 1] ?? "");
});

/** goTo moves the cursor after the first step caused by a line. */
async function goTo(line: number): Promise<void> {
	flush();
	await state.settle();
	const it = comes.value.get(line);
	if (it) shown.seek(stepEnd(it));
	else shown.notice.value = state.fault.value ? "Correct the error in the text first. Then you can go to its lines." : `Line ${line} causes no event of its own.`;
}

/** stepEnd returns the cursor after the first of some events, and what belongs to the same step. */
function stepEnd({ from, to }: LineEvents): number {
	const events = shown.doc.value?.events ?? [];
	let at = from < to ? from + 1 : from;
	while (at < to && events[at]?.part) at++;
	return at;
}

const first = signal(0); // first of the painted lines
const last = signal(100);

export function Editor() {
	const scroller = useRef<HTMLDivElement>(null);
	const area = useRef<HTMLTextAreaElement>(null);
	useEffect(() => follow(area.current!), []);
	useEffect(() => watch(scroller.current!), []);
	const digits = String(lines.value.length).length;
	return (
		<div class="editor">
			<h2>
				The scenario <span>· a click is a line</span>
			</h2>
			<div class="editor-scroll" style={{ "--digits": digits }} ref={scroller} onScroll={(e) => see(e.currentTarget)}>
				<div class="editor-sheet" style={{ "--rows": lines.value.length, "--cols": longest.value + 2 }}>
					<Gutter />
					<Painted />
					<textarea
						ref={area}
						aria-label="Text of the scenario"
						aria-describedby="editor-help editor-fault"
						aria-invalid={state.fault.value !== undefined}
						spellcheck={false}
						autocapitalize="off"
						autocomplete="off"
						wrap="off"
						hidden={shown.quizzing.value}
						onInput={(e) => type(e.currentTarget.value)}
						onBlur={() => {
							flush();
							scroller.current!.scrollLeft = 0;
						}}
						onKeyDown={onKey}
					/>
				</div>
			</div>
			<p id="editor-help" class="unseen">
				Control and Enter goes to the first event of the line that you are in, Control and Z undoes, Escape leaves the text.
			</p>
			{shown.quizzing.value
				? <p class="soft">What has not happened yet is hidden until the quiz ends.</p>
				: <><Findings area={area} /><Buttons /></>}
		</div>
	);
}

// follow makes the text area show the draft. The caret stays where the text is the same.
function follow(area: HTMLTextAreaElement): () => void {
	return effect(() => {
		const next = draft.value;
		const was = area.value;
		if (was === next) return;
		const caret = moved(was, next, area.selectionEnd);
		area.value = next;
		area.setSelectionRange(caret, caret);
	});
}

/** moved returns the position of a caret after the text around it changed. */
function moved(was: string, next: string, caret: number): number {
	let same = 0;
	while (same < was.length && same < next.length && was[same] === next[same]) same++;
	if (caret <= same) return caret;
	let tail = 0;
	while (tail < was.length - same && tail < next.length - same && was.at(-1 - tail) === next.at(-1 - tail)) tail++;
	return Math.max(0, caret >= was.length - tail ? next.length - (was.length - caret) : next.length - tail);
}

function onKey(e: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void {
	e.stopPropagation(); // single letters are commands elsewhere on the page
	const command = e.ctrlKey || e.metaKey;
	const letter = e.key.toLowerCase();
	if (e.key === "Escape") e.currentTarget.blur();
	else if (command && e.key === "Enter") void goTo(lineOf(e.currentTarget));
	else if (command && letter === "z" && !e.shiftKey) flushed(state.undo);
	else if (command && (letter === "y" || letter === "z")) flushed(state.redo);
	else return;
	e.preventDefault();
}

function flushed(then: () => void): void {
	flush();
	then();
}

function lineOf(area: HTMLTextAreaElement): number {
	return area.value.slice(0, area.selectionStart).split("\n").length;
}

// watch keeps the visible lines painted, and the line at the cursor visible.
function watch(it: HTMLElement): () => void {
	const come = () => {
		const line = state.newest.value || present.value;
		if (line > 0 && !it.contains(document.activeElement)) bring(it, line);
	};
	const size = new ResizeObserver(() => {
		see(it);
		come();
	});
	size.observe(it);
	const stop = effect(come);
	const home = effect(() => {
		if (state.text.value !== "" && !it.contains(document.activeElement)) it.scrollLeft = 0;
	});
	return () => {
		size.disconnect();
		stop();
		home();
	};
}

function high(it: HTMLElement): number {
	return parseFloat(getComputedStyle(it).lineHeight) || 20;
}

function see(it: HTMLElement): void {
	const row = high(it);
	first.value = Math.max(0, Math.floor(it.scrollTop / row) - margin);
	last.value = Math.ceil((it.scrollTop + it.clientHeight) / row) + margin;
}

function bring(it: HTMLElement, line: number): void {
	const row = high(it);
	const top = (line - 1) * row;
	if (top < it.scrollTop + row) it.scrollTop = top - row;
	else if (top + 2 * row > it.scrollTop + it.clientHeight) it.scrollTop = top + 2 * row - it.clientHeight;
}

/** numbers returns the numbers of the painted lines. */
function numbers(): number[] {
	const from = Math.min(first.value, lines.value.length);
	return Array.from({ length: Math.max(0, Math.min(last.value, lines.value.length) - from) }, (_, i) => from + i + 1);
}

function Gutter() {
	return (
		<div class="editor-gutter" aria-hidden="true">
			{numbers().map((n) => {
				const it = comes.value.get(n);
				return (
					<button
						key={n}
						type="button"
						tabIndex={-1}
						class={`${n === present.value ? "is-present" : ""} ${n === state.fault.value?.line ? "is-fault" : ""}`}
						style={{ "--row": n - 1 }}
						disabled={!it}
						title={it ? "Go to the first event of this line" : undefined}
						onClick={() => void goTo(n)}
					>
						{n}
					</button>
				);
			})}
		</div>
	);
}

function Painted() {
	return (
		<pre class="editor-painted" aria-hidden="true">
			{numbers().map((n) => (
				<Line key={n} n={n} text={lines.value[n - 1]!} />
			))}
		</pre>
	);
}

function Line({ n, text }: { n: number; text: string }) {
	const fault = state.fault.value?.line === n ? state.fault.value : undefined;
	if (shown.quizzing.value && tells.value(n)) return <div class="editor-line" style={{ "--row": n - 1 }}><span class="ink-comment">…</span></div>;
	const looks = [n === present.value && "is-present", n === state.newest.value && "is-newest", fault && "is-fault"];
	const found = expects.value.get(n);
	return (
		<div class={`editor-line ${looks.filter(Boolean).join(" ")}`} style={{ "--row": n - 1 }}>
			{pieces(text).map(({ look, text }, i) => (look ? <span key={i} class={`ink-${look}`}>{text}</span> : text))}
			{fault && fault.col > 0 && <i class="editor-wave" style={{ "--col": fault.col - 1, "--wide": wide(text, fault.col) }} />}
			{found && <b class={found.ok ? "is-met" : quiet.value(n) ? "differs" : "is-unmet"}>{found.ok ? " ✓" : `${quiet.value(n) ? " ≠" : " ✗"} ${found.text}`}</b>}
			{n === state.newest.value && <em> just clicked</em>}
		</div>
	);
}

/** wide returns the length of the word that begins in a column. */
function wide(text: string, col: number): number {
	return Math.max(1, /^\S*/.exec(text.slice(col - 1))![0].length);
}

/** Findings are what is wrong with the text, and expectations that were not met. */
function Findings({ area }: { area: { current: HTMLTextAreaElement | null } }) {
	const fault = state.fault.value;
	const show = (line: number, col: number) => {
		const it = area.current!;
		const at = lines.value.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + Math.max(0, col - 1);
		it.focus();
		it.setSelectionRange(at, at);
	};
	return (
		<div class="editor-findings">
			<div id="editor-fault" role="alert">
				{fault && (
					<div class="finding is-fault">
						{fault.line > 0 && (
							<button type="button" onClick={() => show(fault.line, fault.col)}>
								Line {fault.line}
								{fault.col > 0 && `, column ${fault.col}`}
							</button>
						)}
						<p>{fault.text}</p>
						{shown.doc.value && <small>The picture shows the last text without errors.</small>}
					</div>
				)}
			</div>
			{unmet.value.length > 0 && (
				<ul class="editor-unmet" aria-label="Expectations that are not met">
					{unmet.value.slice(0, 3).map((e, i) => (
						<li key={i} class={quiet.value(e.line) ? "finding differs" : "finding is-unmet"}>
							{e.line > 0 && (
								<button type="button" onClick={() => show(e.line, 0)}>
									Line {e.line}
								</button>
							)}
							<p>
								{quiet.value(e.line) ? "Differs from the prepared run: " : e.line === 0 && "expected "}{e.want}{e.got ? `, but ${e.got}` : ": not met"}
							</p>
						</li>
					))}
					{unmet.value.length > 3 && <li class={unmet.value.every((e) => quiet.value(e.line)) ? "finding differs" : "finding is-unmet"}>and {unmet.value.length - 3} more, marked ✗</li>}
				</ul>
			)}
			{byHand.value !== "" && (
				<label class="finding">
					To copy by hand
					<input readOnly value={byHand.value} onFocus={(e) => e.currentTarget.select()} />
				</label>
			)}
		</div>
	);
}

function Buttons() {
	return (
		<div class="editor-buttons">
			<Press idle={!state.undoable.value} onClick={() => flushed(state.undo)}>Undo</Press>
			<Press idle={!state.redoable.value} onClick={() => flushed(state.redo)}>Redo</Press>
			<button type="button" title="Continue in a copy; this text stays as it is" onClick={() => flushed(state.branch)}>Branch</button>
			<button type="button" title="Copy the command that replays this in a terminal" onClick={() => flushed(() => void copyCommand())}>Copy CLI</button>
			<button type="button" onClick={() => flushed(() => (state.dialog.value = "export"))}>Export</button>
		</div>
	);
}
