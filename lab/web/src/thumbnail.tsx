// A thumbnail of a group: its processes and links, in the shape of its picture.

import type { Outline } from "./answers";

const size = { width: 72, height: 48, pad: 7 };

export function Thumbnail({ of }: { of: Outline | undefined }) {
	const { width, height, pad } = size;
	const places = of?.places ?? [];
	const r = places.length > 12 ? 2.2 : places.length > 6 ? 3.4 : 4.6;
	const at = ({ x, y }: { x: number; y: number }) => ({ x: Math.round(pad + x * (width - 2 * pad)), y: Math.round(pad + y * (height - 2 * pad)) });
	const spots = places.map(at);
	const links = (of?.links ?? []).map(({ from, to }) => (spots[from] && spots[to] ? `M${spots[from].x} ${spots[from].y}L${spots[to].x} ${spots[to].y}` : "")).join("");
	const round = spots.map(({ x, y }) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`).join("");
	return (
		<svg class="thumbnail" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
			<path class="thumbnail-links" d={links} />
			<path class="thumbnail-nodes" d={round || "M22 10h12v12H22zM40 26h12v12H40zM34 22l6 4"} />
		</svg>
	);
}
