// When the node does not answer: since when, and where to go instead. And when it asks for a
// token.

import { type ReadonlySignal, computed, effect, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { second } from "./clock";
import { awake, bears, contact, elsewhere, give, hello, moveTo } from "./contact";
import { age, clock } from "./format";
import { Name, plain } from "./name";

const patience = 1; // seconds without an answer that nothing is said about
const delay = 5; // seconds from then until the page moves to another node

/** Whether the user has chosen to stay, until the node answers again. */
const stays = signal(false);
/** When the page has begun to say that the node is gone; 0 if it does not. */
const begun = signal(0);

/** Seconds until the page moves; -1 if it does not. */
const countdown: ReadonlySignal<number> = computed(() => {
	if (begun.value === 0 || stays.value || elsewhere().length === 0) return -1;
	second.value;
	return Math.max(0, Math.ceil(delay - (Date.now() - begun.value) / 1000));
});

/** watchNode moves to another node once the countdown is over. */
export function watchNode(): void {
	effect(() => {
		const { state } = contact.value;
		if (state === "live") [stays.value, begun.value] = [false, 0];
		if (state !== "lost" || begun.peek() !== 0) return undefined;
		const timer = setTimeout(() => (begun.value = Date.now()), patience * 1000);
		return () => clearTimeout(timer);
	});
	effect(() => {
		if (countdown.value === 0 && awake.value) moveTo(elsewhere()[0]!);
	});
}

export function Gone() {
	const now = contact.value;
	if (now.state === "denied") return <div class="notice alarm" role="alert"><p><Name of={now.why} />. <button type="button" class="link" onClick={() => (asking.value = true)}>Use {bears() ? "another" : "a"} token</button></p></div>;
	if (now.state !== "lost" || begun.value === 0) return null;
	const node = hello.value?.node;
	const others = elsewhere();
	const left = countdown.value;
	return (
		<div class="notice alarm gone" role="alert" aria-live="assertive">
			<p>
				{node ? <>Node <b><Name of={node} /></b></> : "The node"} has {now.busy ? "refused" : "not answered"} since <time>{clock(now.since)}</time>: <Name of={now.why} />. <span class="soft">It is asked again every few seconds.</span>
			</p>
			{others.length > 0 && (
				<p class="moves" aria-live="off">
					{left >= 0 ? <><span>Moving to <b><Name of={others[0]!.name} /></b> in {age(left)}.</span> <button type="button" class="main" onClick={() => (stays.value = true)}>Stay here</button></> : <span>Go on at another node:</span>}
					{others.map((n) => <button key={n.name} type="button" title={plain(n.http)} onClick={() => moveTo(n)}><Name of={n.name} /></button>)}
					{bears() && <span class="soft">It will ask for the token again.</span>}
				</p>
			)}
			{others.length === 0 && <p class="soft">It is not known where {node ? "other members" : "members"} serve a console.</p>}
		</div>
	);
}

/** Whether the user wants to give another token. */
export const asking = signal(false);

/** Token asks for what identifies the reader. */
export function Token() {
	const field = useRef<HTMLInputElement>(null);
	const keep = useSignal(false);
	const now = contact.value;
	useEffect(() => field.current?.focus(), []);
	return (
		<section class="identify" aria-labelledby="token-title">
			<h1 id="token-title">Who are you?</h1>
			<p>This node shows its cluster only to those who identify themselves. Paste a token, which <code>stile token</code> makes, or open the page with a client certificate.</p>
			<form onSubmit={(e) => {
				e.preventDefault();
				if (!field.current?.value.trim()) return;
				asking.value = false;
				give(field.current.value, keep.value);
			}}>
				<label for="token-field">Token</label>
				<input id="token-field" ref={field} type="password" autocomplete="off" spellcheck={false} required aria-describedby="token-why" />
				<label class="check"><input type="checkbox" checked={keep.value} onChange={(e) => (keep.value = e.currentTarget.checked)} /> Keep it in this tab until the tab is closed. Otherwise a reload forgets it.</label>
				<button type="submit" class="main">Continue</button>
			</form>
			<p id="token-why" class="why-not" role="alert">{now.state === "stranger" && now.why !== "" && <Name of={now.why} />}</p>
		</section>
	);
}

