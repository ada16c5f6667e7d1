// The meaning of the signs that occur in the diagram.

import { useRef } from "preact/hooks";
import { Token, tokenName } from "./beside";
import type { Doc } from "./document";
import type { Sample } from "./layout";
import { kindStyle } from "./look";
import { Sign } from "./plot";
import { edges, useEdges } from "./scroll";

export function Legend({ d }: { d: Doc }) {
	const ref = useRef<HTMLUListElement>(null);
	useEdges(ref);
	return (
		<div class="scroller fits">
			<ul class="legend" aria-label="legend" ref={ref} onScroll={(e) => edges(e.currentTarget)()}>
				{(d.layout.legend ?? []).map((s) => (
					<li key={`${s.shows} ${s.means ?? ""} ${s.kind}`}>
						<svg width="38" height="18" viewBox="-1 -9 38 18" aria-hidden="true">
							<Picture d={d} s={s} />
						</svg>
						{s.text}
					</li>
				))}
				{d.scene.shape !== "tree" && (d.scene.awaited || d.scene.got || d.scene.token || d.scene.shape === "star") && (
					<li>
						<svg width="38" height="18" viewBox="-1 -9 38 18" aria-hidden="true"><path class="needs" d="M2 0H29" /><circle class="need-end" cx="32" cy="0" r="2.6" /></svg>
						needs (in the group)
					</li>
				)}
				{(d.scene.token || (d.scene.shape === "tree" && d.scene.pointer)) && (
					<li>
						<svg width="38" height="18" viewBox="-1 -9 38 18" aria-hidden="true"><Token x={18} y={0} of={d} /></svg>
						{tokenName(d)} (in the group)
					</li>
				)}
			</ul>
		</div>
	);
}

function Picture({ d, s }: { d: Doc; s: Sample }) {
	const kind = d.kinds[s.kind];
	switch (s.shows) {
		case "arrow":
			return (
				<g class={kind?.heavy ? "kind heavy" : "kind"} style={kindStyle(kind)}>
					<g class="arrow"><path d="M0 0H26" stroke-dasharray={kind?.dash} /></g>
					<path d="M26-4L36 0L26 4z" class="kind-fill" />
				</g>
			);
		case "end":
			return <g class="sample-end"><path d="M4 0H24" />{s.means === "lost" ? <path d="M20-4L28 4M20 4L28-4" /> : <circle cx="26" r="2.5" />}</g>;
		case "bar":
			return <rect class={`bar ${s.means}`} x="2" y={s.means === "waiting" ? -4 : -6} width="32" height={s.means === "waiting" ? 8 : 12} rx="3" />;
		case "mark":
			return s.means === "violation"
				? <g class="mark violation" transform="translate(18 1)"><path d="M0-8L8 6H-8z" class="warning" /><path d="M0-4V1M0 3V4.5" class="bang" /></g>
				: <g class={`mark ${s.means}`} transform="translate(18 0)"><Sign means={s.means ?? ""} /></g>;
		case "upright":
			return <line class={`upright ${s.means}`} x1="18" x2="18" y1="-8" y2="8" />;
		default:
			return <text x="18" y="5" text-anchor="middle">²</text>;
	}
}
