// What all dialogs have in common: a native modal dialog, which keeps the focus and
// returns it, and closes with Escape.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Refusal } from "./backend";
import { Messages } from "./messages";
import { type Dialog, dialog } from "./state";

interface PanelProps {
	name: Dialog;
	title: string;
	/** Its purpose, in a sentence. */
	lead?: string;
	children: ComponentChildren;
}

/** modal returns whether a dialog leaves nothing else of the page within reach. */
export function modal(which: Dialog): boolean {
	return which !== "" && which !== "tour";
}

/** Panel lies over the page while the signal dialog has its name. */
export function Panel(props: PanelProps) {
	return dialog.value === props.name ? <Open {...props} /> : null;
}

function Open({ name, title, lead, children }: PanelProps) {
	const box = useRef<HTMLDialogElement>(null);
	const id = useId();
	useLayoutEffect(() => {
		const it = box.current!;
		it.showModal();
		it.querySelector<HTMLElement>("[data-first]")?.focus();
		return () => it.close();
	}, []);
	return (
		<dialog
			ref={box}
			class={`panel panel-${name}`}
			aria-labelledby={id}
			onCancel={(e) => {
				e.preventDefault();
				close();
			}}
			onKeyDown={keep}
			onMouseDown={(e) => e.target === box.current && close()}
		>
			<div class="panel-box">
				<header class="panel-head">
					<div>
						<h2 id={id}>{title}</h2>
						{lead && <p>{lead}</p>}
					</div>
					<button type="button" class="panel-close" aria-label={`Close ${title}`} title="Close (Escape)" onClick={close}>
						<span aria-hidden="true">×</span>
					</button>
				</header>
				<div class="panel-body">{children}</div>
			</div>
			<Messages />
		</dialog>
	);
}

/** close closes whatever lies over the page. */
export function close(): void {
	dialog.value = "";
}

// keep reserves keys for the dialog, and makes Tab cycle within it.
function keep(e: KeyboardEvent): void {
	e.stopPropagation();
	if (e.key === "Escape") {
		e.preventDefault();
		close();
	}
	if (e.key !== "Tab") return;
	const all = focusable(e.currentTarget as HTMLElement);
	const [first, last] = [all[0], all.at(-1)];
	const from = document.activeElement;
	if (!e.shiftKey && from === last) {
		e.preventDefault();
		first?.focus();
	} else if (e.shiftKey && (from === first || from === e.currentTarget)) {
		e.preventDefault();
		last?.focus();
	}
}

function focusable(box: HTMLElement): HTMLElement[] {
	const all = box.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [tabindex]");
	return [...all].filter((it) => it.tabIndex >= 0 && !it.matches(":disabled") && it.checkVisibility());
}

/** Trouble says why something is not there. */
export function Trouble({ what, of }: { what: string; of: Refusal }) {
	return (
		<p class="trouble" role="alert">
			{what}: {of.error.text}
		</p>
	);
}
