// The whole run in a strip: when processes were inside, what was violated, and a window
// that can be dragged.

import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { scrollTo, view, zoom } from "./canvas";
import type { Doc } from "./document";
import { useSize } from "./look";
import { cursor, laid, seek } from "./shown";
import { placeOf, stepAfter, stepBefore } from "./story";

const high = 26;
const width = signal(600);

export function Minimap({ d }: { d: Doc }) {
	const ref = useSize<HTMLDivElement>((size) => (width.value = size.width));
	const scale = width.value / d.layout.page.plot;
	const still = useMemo(() => <Run d={d} wide={width.value} />, [d, width.value]);
	const now = placeOf(d, cursor.value - 1, laid.value === "event") * scale;
	const z = zoom.value;
	const from = (view.value.left / z) * scale;
	const wide = Math.min(width.value, Math.max(8, ((view.value.width / z) - d.layout.page.left) * scale));
	const drag = (e: PointerEvent & { currentTarget: HTMLElement }) => {
		if (e.buttons !== 1) return;
		e.currentTarget.setPointerCapture(e.pointerId);
		const x = e.clientX - e.currentTarget.getBoundingClientRect().left;
		scrollTo((x - wide / 2) / scale);
	};
	return (
		<div
			class="minimap"
			ref={ref}
			tabIndex={0}
			role="slider"
			aria-label="the whole run: the cursor"
			aria-valuemin={0}
			aria-valuemax={d.events.length}
			aria-valuenow={cursor.value}
			aria-valuetext={cursor.value > 0 ? d.events[cursor.value - 1]?.text : "before the first event"}
			onPointerDown={drag}
			onPointerMove={drag}
			onKeyDown={(e) => {
				const to = { ArrowLeft: stepBefore(d, cursor.value), ArrowRight: stepAfter(d, cursor.value), Home: 0, End: d.events.length }[e.key];
				if (to === undefined) return;
				e.preventDefault();
				e.stopPropagation();
				seek(to);
			}}
		>
			<svg width={width.value} height={high} aria-hidden="true">
				{still}
				<line class="mini-now" x1={now} x2={now} y1="0" y2={high} />
				<rect class="mini-window" x={Math.min(from + 1, width.value - wide - 1)} y="1" width={Math.max(2, wide - 2)} height={high - 2} rx="3" />
			</svg>
		</div>
	);
}

/** Run is the part that stays the same while the cursor moves. */
function Run({ d, wide }: { d: Doc; wide: number }) {
	const { inside, waiting } = strips(d, wide);
	return (
		<>
			<path class="mini-waiting" d={waiting} />
			<path class="mini-inside" d={inside} />
			{d.violations.slice(0, 200).map((v) => {
				const x = (placeOf(d, v.event, laid.value === "event") * wide) / d.layout.page.plot;
				return <line key={v.event} class="mini-broken" x1={x} x2={x} y1="0" y2={high} />;
			})}
		</>
	);
}

/** strips returns the pixels in which any process was inside or waited, as paths. */
function strips(d: Doc, wide: number): { inside: string; waiting: string } {
	const columns = { inside: new Uint8Array(Math.ceil(wide) + 1), waiting: new Uint8Array(Math.ceil(wide) + 1) };
	const scale = wide / d.layout.page.plot;
	for (const b of d.layout.bars ?? []) {
		const row = b.means === "inside" ? columns.inside : b.means === "waiting" ? columns.waiting : undefined;
		row?.fill(1, Math.max(0, Math.floor(b.x1 * scale)), Math.max(0, Math.ceil(b.x2 * scale)));
	}
	return { inside: runs(columns.inside, 4, high - 8), waiting: runs(columns.waiting, high - 4, 3) };
}

function runs(row: Uint8Array, y: number, tall: number): string {
	let path = "";
	for (let i = 0; i < row.length; ) {
		let to = i;
		while (to < row.length && row[to]) to++;
		if (to > i) path += `M${i} ${y}h${to - i}v${tall}h${i - to}z`;
		i = to + 1;
	}
	return path;
}
