// The controls of time: step, play, speed, and jumps.

import { computed, effect } from "@preact/signals";
import { calm } from "./look";
import { Press } from "./press";
import { cursor, doc, jump, nextOf, playing, seek, speed, total } from "./shown";
import { stepAfter, stepBefore } from "./story";

const speeds = [0.25, 0.5, 1, 2, 4, 8, 16];

/** forward goes one step forward; with single, one event. */
export function forward(single = false): void {
	const d = doc.value;
	if (d) seek(single ? cursor.value + 1 : stepAfter(d, cursor.value));
}

/** backward goes one step back. */
export function backward(single = false): void {
	const d = doc.value;
	if (d) seek(single ? cursor.value - 1 : stepBefore(d, cursor.value));
}

/** play starts or stops; at the end it starts over. */
export function play(): void {
	if (!playing.value && cursor.value >= total.value) seek(0);
	playing.value = !playing.value && total.value > 0;
}

/** faster changes the speed by a notch. */
export function faster(by: number): void {
	const at = speeds.indexOf(speed.value) + by;
	speed.value = speeds[Math.max(0, Math.min(speeds.length - 1, at))] ?? 1;
}

/** The duration of a step, in milliseconds: also how long things glide. */
export const beat = computed(() => 700 / speed.value);

effect(() => {
	if (!playing.value) return;
	const timer = setInterval(() => {
		const d = doc.value;
		if (!d || cursor.value >= d.events.length) playing.value = false;
		else seek(stepAfter(d, cursor.value), true);
	}, beat.value);
	return () => clearInterval(timer);
});

export function Controls() {
	const d = doc.value;
	const at = cursor.value;
	const none = !d || total.value === 0;
	return (
		<div class="controls" data-tour="controls" role="toolbar" aria-label="time">
			<div class="buttons">
				<Button label="first" hint="Home" idle={none || at === 0} onClick={() => seek(0)} icon="M3 3v10M13 3L5 8l8 5z" />
				<Button label="step back" hint="←" idle={none || at === 0} onClick={() => backward()} icon="M11 3L4 8l7 5z" />
				<Button label={playing.value ? "pause" : "play"} hint="space" main idle={none} onClick={play} icon={playing.value ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4 2l10 6-10 6z"} />
				<Button label="step" hint="→" idle={none || at >= total.value} onClick={() => forward()} icon="M5 3l7 5-7 5z" />
				<Button label="last" hint="End" idle={none || at >= total.value} onClick={() => seek(total.value)} icon="M13 3v10M3 3l8 5-8 5z" />
				<label class="speed">
					<span class="unseen">speed</span>
					<select value={String(speed.value)} onChange={(e) => (speed.value = Number(e.currentTarget.value))} title={calm.value ? "speed; nothing moves smoothly, because your system asks for reduced motion" : "speed (+ and -)"}>
						{speeds.map((s) => <option key={s} value={String(s)}>{s}×</option>)}
					</select>
				</label>
			</div>
			<div class="buttons">
				<Press idle={none || nextOf("entry") < 0} onClick={() => jump("entry")} title="to the next entry (e)">next {d?.algorithm.calls ? "leader" : "entry"}</Press>
				<Press idle={none || nextOf("violation") < 0} onClick={() => jump("violation")} title="to the next violation (v)">next violation</Press>
				<span class="count">{at} of {total.value}</span>
			</div>
		</div>
	);
}

interface ButtonProps {
	label: string;
	hint: string;
	icon: string;
	main?: boolean;
	idle: boolean;
	onClick: () => void;
}

function Button({ label, hint, icon, main, idle, onClick }: ButtonProps) {
	return (
		<Press idle={idle} class={main ? "icon main" : "icon"} label={label} title={`${label} (${hint})`} onClick={onClick}>
			<svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path d={icon} /></svg>
		</Press>
	);
}
