// Where the vertices of a wait-for graph are: each left of those it waits for, or on a narrow
// page above them. The vertices of a cycle are on a circle.

export interface Wire {
	from: string;
	to: string;
}

export interface Spot {
	x: number; // of its middle
	y: number;
}

/** A Plan is a graph with places. */
export interface Plan {
	wide: number;
	high: number;
	spots: Map<string, Spot>;
	ways: Map<Wire, Spot[]>; // points that a wire passes, between its ends
}

/** The size of a vertex, and the room around it. */
export interface Sizes {
	wide: number;
	high: number;
	along: number; // between layers
	across: number; // between the vertices of a layer
}

/**
 * cyclesOf returns the strongly connected components of a graph, each after all that it leads
 * to: Tarjan's algorithm, with a stack of its own, since chains may be long.
 */
export function cyclesOf(ids: string[], next: Map<string, string[]>): string[][] {
	const found: string[][] = [];
	const index = new Map<string, number>();
	const low = new Map<string, number>();
	const open = new Set<string>();
	const stack: string[] = [];
	for (const root of ids) {
		if (index.has(root)) continue;
		const path: { id: string; at: number }[] = [{ id: root, at: 0 }];
		for (let top; (top = path.at(-1)); ) {
			const { id } = top;
			if (top.at === 0) {
				low.set(id, index.size);
				index.set(id, index.size);
				stack.push(id);
				open.add(id);
			}
			const to = next.get(id)?.[top.at++];
			if (to !== undefined) {
				if (!index.has(to)) path.push({ id: to, at: 0 });
				else if (open.has(to)) low.set(id, Math.min(low.get(id)!, index.get(to)!));
				continue;
			}
			path.pop();
			const parent = path.at(-1)?.id;
			if (parent !== undefined) low.set(parent, Math.min(low.get(parent)!, low.get(id)!));
			if (low.get(id) !== index.get(id)) continue;
			const members = stack.splice(stack.indexOf(id));
			for (const m of members) open.delete(m);
			found.push(members);
		}
	}
	return found;
}

/** A Block is what has a place of its own in a layer: a vertex, a cycle, or where a wire passes. */
interface Block {
	ids: string[];
	layer: number;
	size: number; // across
	depth: number; // along
	at: number; // middle, across
	before: Block[];
	after: Block[];
}

/** A Shelf is a row of parts that lie beside each other. */
interface Shelf {
	y: number;
	wide: number;
	high: number;
}

/** planOf places a graph, whose parts lie beside each other as far as the width goes. */
export function planOf(ids: string[], wires: Wire[], sizes: Sizes, room: number, down: boolean): Plan {
	const plan: Plan = { wide: 0, high: 0, spots: new Map(), ways: new Map() };
	const gap = 3 * sizes.across;
	const shelves: Shelf[] = [];
	const placed = partsOf(ids, wires).map((part) => {
		const loose = place(part.ids, part.wires, sizes, down);
		return loose.wide <= room || down ? loose : place(part.ids, part.wires, { ...sizes, along: sizes.along / 2 }, down);
	});
	for (const p of placed) {
		let shelf = shelves.find((s) => s.wide + gap + p.wide <= room && (p.high <= s.high || s === shelves.at(-1)));
		if (!shelf) {
			shelf = { y: plan.high > 0 ? plan.high + gap : 0, wide: -gap, high: p.high };
			shelves.push(shelf);
		}
		const [x, y] = [shelf.wide + gap, shelf.y];
		for (const [id, s] of p.spots) plan.spots.set(id, { x: s.x + x, y: s.y + y });
		for (const [wire, way] of p.ways) plan.ways.set(wire, way.map((s) => ({ x: s.x + x, y: s.y + y })));
		shelf.wide = x + p.wide;
		shelf.high = Math.max(shelf.high, p.high);
		[plan.wide, plan.high] = [Math.max(plan.wide, shelf.wide), Math.max(plan.high, y + p.high)];
	}
	return plan;
}

/** partsOf splits a graph into what hangs together, the part first that has the first vertex. */
function partsOf(ids: string[], wires: Wire[]): { ids: string[]; wires: Wire[] }[] {
	const root = new Map(ids.map((id) => [id, id]));
	const find = (id: string): string => {
		let r = id;
		while (root.get(r) !== r) r = root.get(r)!;
		root.set(id, r);
		return r;
	};
	for (const { from, to } of wires) root.set(find(from), find(to));
	const parts = new Map<string, { ids: string[]; wires: Wire[] }>();
	for (const id of ids) {
		const part = parts.get(find(id)) ?? { ids: [], wires: [] };
		parts.set(find(id), part);
		part.ids.push(id);
	}
	for (const w of wires) parts.get(find(w.from))!.wires.push(w);
	return [...parts.values()];
}

/** place places a part. */
function place(ids: string[], wires: Wire[], sizes: Sizes, down: boolean): Plan {
	const [depth, size] = down ? [sizes.high, sizes.wide] : [sizes.wide, sizes.high];
	const next = new Map<string, string[]>(ids.map((id) => [id, []]));
	for (const { from, to } of wires) next.get(from)!.push(to);
	const blocks = cyclesOf(ids, next).map((members): Block => {
		const ring = ringOf(members, sizes);
		const [x, y] = [range(ring.map((p) => p.x)).long, range(ring.map((p) => p.y)).long];
		const [along, across] = down ? [y, x] : [x, y];
		return { ids: members, layer: 0, size: size + across, depth: depth + along, at: 0, before: [], after: [] };
	});
	const blockOf = new Map(blocks.flatMap((b) => b.ids.map((id) => [id, b] as const)));
	const outer = wires.filter((w) => blockOf.get(w.from) !== blockOf.get(w.to));
	for (const b of blocks) { // those it leads to come first
		const after = b.ids.flatMap((id) => next.get(id)!).map((to) => blockOf.get(to)!).filter((o) => o !== b);
		b.layer = Math.max(0, ...after.map((o) => o.layer + 1));
	}
	const passes = pass(outer, blockOf, blocks, sizes);
	const layers: Block[][] = [];
	for (const b of blocks) (layers[b.layer] ??= []).push(b);
	arrange(layers, sizes);
	return drawn(layers.reverse(), passes, sizes, down);
}

/** pass makes room for wires in the layers that they cross, and returns the blocks of each. */
function pass(wires: Wire[], blockOf: Map<string, Block>, blocks: Block[], sizes: Sizes): Map<Wire, Block[]> {
	const passes = new Map<Wire, Block[]>();
	const known = new Map<string, Block[]>(); // wires between the same blocks go together
	for (const w of wires) {
		const [from, to] = [blockOf.get(w.from)!, blockOf.get(w.to)!];
		const key = `${blocks.indexOf(from)} ${blocks.indexOf(to)}`;
		let way = known.get(key);
		if (!way) {
			way = [];
			let last = from;
			for (let layer = from.layer - 1; layer > to.layer; layer--) {
				const b: Block = { ids: [], layer, size: sizes.across, depth: 0, at: 0, before: [last], after: [] };
				last.after.push(b);
				blocks.push(b);
				way.push(b);
				last = b;
			}
			last.after.push(to);
			to.before.push(last);
			known.set(key, way);
		}
		passes.set(w, way);
	}
	return passes;
}

/**
 * arrange orders the blocks of each layer so that wires cross less, and moves them towards
 * the middle of those they are connected with.
 */
function arrange(layers: Block[][], sizes: Sizes): void {
	const middle = (all: Block[]) => all.reduce((n, b) => n + b.at, 0) / all.length;
	const spread = (layer: Block[]) => {
		let at = 0;
		for (const b of layer) {
			b.at = at + b.size / 2;
			at += b.size + sizes.across;
		}
		for (const b of layer) b.at -= (at - sizes.across) / 2;
	};
	layers.forEach(spread);
	for (let sweep = 0; sweep < 8; sweep++) {
		const up = sweep % 2 === 0;
		for (const layer of up ? layers : [...layers].reverse()) {
			const wanted = new Map(layer.map((b) => {
				const all = up ? b.after : b.before;
				return [b, all.length > 0 ? middle(all) : b.at];
			}));
			layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
			for (const b of layer) b.at = wanted.get(b)!;
			// Those that overlap now move apart, from the middle of the layer.
			for (let i = 1; i < layer.length; i++) layer[i]!.at = Math.max(layer[i]!.at, layer[i - 1]!.at + (layer[i - 1]!.size + layer[i]!.size) / 2 + sizes.across);
			const off = layer.reduce((n, b) => n + b.at - wanted.get(b)!, 0) / layer.length;
			for (const b of layer) b.at -= off;
		}
	}
}

/**
 * ringOf returns the places of a cycle around its middle: on a circle that is wide enough for no
 * vertex to be too close to the next.
 */
function ringOf(members: string[], sizes: Sizes): Spot[] {
	const n = members.length;
	if (n === 1) return [{ x: 0, y: 0 }];
	const apart = { x: sizes.wide + 3 * sizes.across, y: sizes.high + 3 * sizes.across };
	for (let r = sizes.high; ; r *= 1.1) {
		const all = members.map((_, i) => ({ x: r * Math.sin((2 * Math.PI * i) / n), y: -r * Math.cos((2 * Math.PI * i) / n) }));
		const far = (a: Spot, b: Spot) => Math.abs(a.x - b.x) >= apart.x || Math.abs(a.y - b.y) >= apart.y;
		if (!all.every((a, i) => far(a, all[(i + 1) % n]!))) continue;
		const [x, y] = [range(all.map((p) => p.x)), range(all.map((p) => p.y))];
		return all.map((p) => ({ x: p.x - x.middle, y: p.y - y.middle }));
	}
}

function range(all: number[]): { long: number; middle: number } {
	const [from, to] = [Math.min(...all), Math.max(...all)];
	return { long: to - from, middle: (from + to) / 2 };
}

/** drawn turns layers into places. */
function drawn(layers: Block[][], passes: Map<Wire, Block[]>, sizes: Sizes, down: boolean): Plan {
	const least = Math.min(...layers.flat().map((b) => b.at - b.size / 2));
	const most = Math.max(...layers.flat().map((b) => b.at + b.size / 2));
	const spots = new Map<string, Spot>();
	const middles = new Map<Block, Spot>();
	let along = 0;
	for (const layer of layers) {
		const depth = Math.max(...layer.map((b) => b.depth));
		for (const b of layer) {
			const mid = down ? { x: b.at - least, y: along + depth / 2 } : { x: along + depth / 2, y: b.at - least };
			middles.set(b, mid);
			if (b.ids.length === 0) continue; // a wire passes
			for (const [i, off] of ringOf(b.ids, sizes).entries()) spots.set(b.ids[i]!, { x: mid.x + off.x, y: mid.y + off.y });
		}
		along += depth + sizes.along;
	}
	const ways = new Map([...passes].map(([w, blocks]) => [w, blocks.map((b) => middles.get(b)!)]));
	const [wide, high] = down ? [most - least, along - sizes.along] : [along - sizes.along, most - least];
	return { wide, high, spots, ways };
}
