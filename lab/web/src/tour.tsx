// The guided tour: six steps from the lost 10,000 to a proof. It points at the real page,
// which stays usable.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Exhibit, type Shelf, shelf } from "./answers";
import { refused } from "./backend";
import { check } from "./check";
import { Press } from "./press";
import { doc, nextOf, seek, total } from "./shown";
import { dialog, edit } from "./state";

interface Stop {
	title: string;
	text: string;
	/** What it points at: the first that exists. */
	at: string;
	/** What it shows there. */
	show?: () => Promise<void> | void;
}

/** The lock that the tour uses in place of no lock. */
const sound = "ricart-agrawala";

const stops: Stop[] = [
	{
		title: "10,000 are lost",
		text: "Two tellers read the balance of an account, add to it, and write it back. Their lock is wrong: both are inside at once and read the same balance, so one deposit is lost. Time goes from left to right, a line is a process, an arrow is a message.",
		at: "[data-tour=diagram]",
		show: () => open(bank, Number.MAX_SAFE_INTEGER),
	},
	{
		title: "Go through it",
		text: "Step forwards and back here, or with the arrow keys. You are now at the moment when it breaks.",
		at: "[data-tour=controls]",
		show: () => seek(broken()),
	},
	{
		title: "A click is a line",
		text: "This is the text of what you see. Click a process or a message and choose what happens to it: a line is added here. Change a line, and the picture changes. Undo takes it back.",
		at: "[data-tour=editor]",
	},
	{
		title: "Now with a lock",
		text: "The same group, with Ricart and Agrawala's lock: a process that wants to enter asks all others, and waits for an OK from each. Click a waiting process to see what it waits for.",
		at: "[data-tour=scene]",
		show: () => open(locked, 0).then(() => seek(waited())),
	},
	{
		title: "Measured beside theory",
		text: "The cost of this run beside what theory predicts: 2(N-1) messages for each entry. Beside it are the properties that must hold in every run, and where each one was violated.",
		at: "[data-tour=measures]",
		show: () => seek(total.value),
	},
	{
		title: "From a run to a proof",
		text: "One good run proves nothing. Check tries every order in which messages can arrive, and ends with a proof or with the shortest counterexample.",
		at: "[data-tour=check]",
	},
];

const at = signal(0);

/** What the stops show, one after the other, however fast the user proceeds. */
let showing: Promise<void> = Promise.resolve();

/** startTour shows the first stop. */
export function startTour(): void {
	at.value = 0;
	void shelf.fetch();
	dialog.value = "tour";
}

/** toured returns whether the user has taken the tour before. */
export function toured(): boolean {
	try {
		return localStorage.getItem("stile-tour") !== null;
	} catch {
		return false;
	}
}

function leave(): void {
	dialog.value = "";
	try {
		localStorage.setItem("stile-tour", "seen");
	} catch {
		// then it is offered again
	}
}

function proceed(): void {
	if (at.value < stops.length - 1) at.value++;
	else {
		leave();
		void showing.then(check);
	}
}

/** broken returns the cursor of the first violation, or the end. */
function broken(): number {
	const to = nextOf("violation", 0);
	return to >= 0 ? to : total.value;
}

/**
 * waited returns the cursor at which the second one begins to wait, with a sentence that
 * says for what; or the end.
 */
function waited(): number {
	const all = doc.value?.deltas.filter((x) => x.wait) ?? [];
	return all.find((x) => x.proc !== all[0]!.proc)?.event ?? total.value;
}

async function open(which: (all: Shelf) => Exhibit | undefined, cursor: number): Promise<void> {
	const answer = await shelf.fetch();
	const it = refused(answer) ? undefined : which(answer);
	if (it) await edit(it.text, { cursor });
}

const bank = (all: Shelf) => all.groups[0]?.items[0];
const locked = (all: Shelf) => all.groups.flatMap((g) => g.items).find((it) => new RegExp(`^algorithm\\s+${sound}$`, "m").test(it.text));

export function Tour() {
	return dialog.value === "tour" ? <Card /> : null;
}

function Card() {
	const card = useRef<HTMLDivElement>(null);
	const light = useRef<HTMLDivElement>(null);
	const { title, text, show, at: where } = stops[at.value]!;
	useEffect(() => {
		const back = document.activeElement;
		const key = (e: KeyboardEvent) => e.key === "Escape" && leave();
		addEventListener("keydown", key);
		return () => {
			removeEventListener("keydown", key);
			if (back instanceof HTMLElement && back.isConnected) back.focus({ preventScroll: true });
		};
	}, []);
	useEffect(() => {
		const now = document.activeElement; // a user who goes back stays on that button, as long as it is enabled
		if (!card.current!.contains(now) || now!.matches(":disabled")) card.current!.querySelector<HTMLElement>(".is-main")!.focus({ preventScroll: true });
		showing = showing.then(show);
	}, [at.value]);
	useLayoutEffect(() => {
		const target = document.querySelector<HTMLElement>(where);
		target?.scrollIntoView({ block: "nearest" });
		return attach(target, card.current!, light.current!);
	}, [at.value]);
	const last = at.value === stops.length - 1;
	return (
		<>
			<div class="tour-light" ref={light} aria-hidden="true" />
			<div class="tour-card" ref={card} role="dialog" aria-labelledby="tour-title" aria-describedby="tour-text">
				<p class="tour-count">Step {at.value + 1} of {stops.length}</p>
				<h2 id="tour-title">{title}</h2>
				<p id="tour-text">{text}</p>
				<div class="tour-buttons">
					<button type="button" onClick={leave}>Leave</button>
					<span class="tour-gap" />
					<Press idle={at.value === 0} onClick={() => at.value--}>Back</Press>
					<button type="button" class="is-main" onClick={proceed}>{last ? "Prove it" : "Next"}</button>
				</div>
			</div>
		</>
	);
}

/** attach keeps the light on the target and the card beside it. */
function attach(target: HTMLElement | null, card: HTMLElement, light: HTMLElement): () => void {
	let last = "";
	let frame = 0;
	const look = () => {
		frame = requestAnimationFrame(look);
		const box = target?.getBoundingClientRect();
		const now = `${box?.x} ${box?.y} ${box?.width} ${box?.height} ${innerWidth} ${innerHeight} ${card.offsetHeight}`;
		if (now === last) return;
		last = now;
		light.hidden = !box;
		if (box) put(light, box.left - 4, box.top - 4, box.width + 8, box.height + 8);
		const { left, top } = beside(box, card.offsetWidth, card.offsetHeight);
		put(card, left, top);
	};
	look();
	return () => cancelAnimationFrame(frame);
}

function put(it: HTMLElement, left: number, top: number, width?: number, height?: number): void {
	Object.assign(it.style, { left: `${left}px`, top: `${top}px` });
	if (width !== undefined) Object.assign(it.style, { width: `${width}px`, height: `${height}px` });
}

/** beside returns where a card has room next to a box; otherwise it lies at the lower edge. */
function beside(box: DOMRect | undefined, wide: number, high: number): { left: number; top: number } {
	const gap = 12;
	const [maxLeft, maxTop] = [innerWidth - wide - gap, innerHeight - high - gap];
	const within = (v: number, most: number) => Math.max(gap, Math.min(v, most));
	if (!box) return { left: Math.max(gap, maxLeft / 2), top: Math.max(gap, maxTop / 2) };
	if (box.right + gap <= maxLeft) return { left: box.right + gap, top: within(box.top, maxTop) };
	if (box.left - gap - wide >= gap) return { left: box.left - gap - wide, top: within(box.top, maxTop) };
	if (box.bottom + gap <= maxTop) return { left: within(box.left, maxLeft), top: box.bottom + gap };
	if (box.top - gap - high >= gap) return { left: within(box.left, maxLeft), top: box.top - gap - high };
	return { left: Math.max(gap, maxLeft / 2), top: maxTop };
}
