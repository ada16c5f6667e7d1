// Small charts: a number over the last minutes, and how often durations occur.

import { second } from "./clock";
import { count, duration } from "./format";
import { type Series, stretches } from "./series";
import type { Histogram } from "./views";

/** Spark is a series in the background of a number. */
export function Spark({ series, label }: { series: Series; label: string }) {
	const { all } = stretches(series.points.value, second.value);
	const line = all.map((s) => `M${s.map(({ x, y }) => `${fine(x * 300)} ${fine(38 - y * 35)}`).join("L")}`).join("");
	const area = all.map((s) => `M${fine(s[0]!.x * 300)} 40L${s.map(({ x, y }) => `${fine(x * 300)} ${fine(38 - y * 35)}`).join("L")}L${fine(s.at(-1)!.x * 300)} 40z`).join("");
	return (
		<svg class="spark" viewBox="0 0 300 40" preserveAspectRatio="none" role="img" aria-label={label}>
			<path class="spark-area" d={area} />
			<path class="spark-line" d={line} />
		</svg>
	);
}

function fine(v: number): number {
	return Math.round(v * 10) / 10;
}

/** shownOf returns the part of a histogram that has counts, with a bucket of room at both ends. */
export function shownOf({ bounds_s, counts }: Histogram): { from: number; to: number } {
	const first = counts.findIndex((n) => n > 0);
	if (first < 0) return { from: 0, to: 0 };
	return { from: Math.max(0, first - 1), to: Math.min(counts.length, Math.min(bounds_s.length, counts.findLastIndex((n) => n > 0) + 1) + 1) };
}

/**
 * quantile returns the duration that a part of all do not exceed, and the bucket that it is in,
 * both estimated: within a bucket, durations are taken to be spread evenly.
 */
export function quantile({ bounds_s, counts }: Histogram, part: number): { s: number; bucket: number } {
	const all = counts.reduce((n, c) => n + c, 0);
	let left = all * part;
	for (const [i, n] of counts.entries()) {
		if (n > 0 && left <= n) {
			const from = i > 0 ? bounds_s[i - 1]! : 0;
			const to = bounds_s[i] ?? from;
			return { s: from + (to - from) * (left / n), bucket: i + left / n };
		}
		left -= n;
	}
	return { s: NaN, bucket: -1 };
}

const wide = 400;
const high = 96;

/** Bars is a histogram of durations. */
export function Bars({ of, label, tone }: { of: Histogram | undefined; label: string; tone: string }) {
	const total = of?.counts.reduce((n, c) => n + c, 0) ?? 0;
	if (!of || total === 0) return <p class="nothing">Nothing was measured yet.</p>;
	const { from, to } = shownOf(of);
	const each = wide / (to - from);
	const most = Math.max(...of.counts);
	const [half, late] = [quantile(of, 0.5), quantile(of, 0.99)];
	const x = (bucket: number) => (bucket - from) * each;
	const step = Math.ceil((to - from) / 6);
	const name = (i: number) => (i === 0 ? `up to ${duration(of.bounds_s[0]!)}` : i < of.bounds_s.length ? `${duration(of.bounds_s[i - 1]!)} to ${duration(of.bounds_s[i]!)}` : `over ${duration(of.bounds_s.at(-1)!)}`);
	const tip = (i: number) => `${name(i)}: ${count(of.counts[i]!)} (${percent(of.counts[i]! / total)})`;
	return (
		<figure class={`bars ${tone}`}>
			<svg viewBox={`-6 -32 ${wide + 12} ${high + 50}`} role="img" aria-label={`${label}: ${count(total)} measured, half of them at most ${duration(half.s)}, 99 % at most ${duration(late.s)}`}>
				{of.counts.slice(from, to).map((n, k) => (
					<g key={k} class="bars-bar">
						<rect class="bars-room" x={k * each} y="0" width={each} height={high} />
						{n > 0 && <rect class="bars-is" x={k * each + 0.75} y={high - Math.max(1.5, (n / most) * high)} width={Math.max(1, each - 1.5)} height={Math.max(1.5, (n / most) * high)} rx="1.5" />}
						<title>{tip(from + k)}</title>
					</g>
				))}
				<line class="bars-base" x1="0" x2={wide} y1={high} y2={high} />
				{of.bounds_s.map((s, i) => i >= from && i < to && (i - from) % step === 0 && <text key={i} x={x(i + 1)} y={high + 14} text-anchor="middle">{duration(s)}</text>)}
				<Quantile name="p50" x={x(half.bucket)} s={half.s} left={false} />
				{late.bucket - half.bucket > 0.4 && <Quantile name="p99" x={x(late.bucket)} s={late.s} left={x(late.bucket) > wide * 0.8} />}
			</svg>
			<figcaption class="unseen">{of.counts.map((n, i) => (n > 0 ? `${tip(i)}. ` : ""))}</figcaption>
		</figure>
	);
}

function Quantile({ name, x, s, left }: { name: string; x: number; s: number; left: boolean }) {
	return (
		<g class="bars-quantile" aria-hidden="true">
			<line x1={x} x2={x} y1={name === "p99" ? -15 : -28} y2={high} />
			<text x={x + (left ? -4 : 4)} y={name === "p99" ? -6 : -19} text-anchor={left ? "end" : "start"}>{name} {duration(s)}</text>
		</g>
	);
}

function percent(part: number): string {
	return part < 0.001 ? "<0.1 %" : `${Math.round(part * 1000) / 10} %`;
}
