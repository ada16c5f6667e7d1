// The picture of the group as a file: as it is now, or animated, step by step.

import type { Size } from "./look";
import { cursor, doc, seek } from "./state";
import { stepAfter } from "./story";

const mostFrames = 200; // steps of an animated picture
const beat = 0.9; // seconds per step

/** groupPicture returns the picture of the group as SVG; empty if there is none. */
export function groupPicture(): string {
	const svg = document.querySelector<SVGSVGElement>(".picture svg");
	return svg ? sheet(svg.getBoundingClientRect(), bare(svg).innerHTML) : "";
}

/**
 * groupMovie returns an animated SVG of the run from its beginning; empty if there is no
 * picture, or the run has too many steps. The cursor comes back to where it was.
 */
export async function groupMovie(): Promise<string> {
	const d = doc.value;
	const svg = document.querySelector<SVGSVGElement>(".picture svg");
	if (!d || !svg) return "";
	const stops = [0];
	while (stops.at(-1)! < d.events.length && stops.length <= mostFrames) stops.push(stepAfter(d, stops.at(-1)!));
	if (stops.length > mostFrames) return "";
	const was = cursor.value;
	const frames: string[] = [];
	const most = { width: 0, height: 0 };
	for (const at of stops) {
		seek(at);
		await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		const { width, height } = svg.getBoundingClientRect();
		Object.assign(most, { width: Math.max(most.width, width), height: Math.max(most.height, height) });
		frames.push(bare(svg).innerHTML);
	}
	seek(was);
	const all = frames.length * beat;
	const part = (n: number) => (n / frames.length).toFixed(5);
	return sheet(most, frames.map((frame, i) => `<g visibility="hidden"><animate attributeName="visibility" dur="${all}s" repeatCount="indefinite" calcMode="discrete" values="hidden;visible;hidden" keyTimes="0;${part(i)};${part(i + 1)}"/>${frame}</g>`).map((g, i) => (i === 0 ? g.replace('values="hidden;visible;hidden" keyTimes="0;0.00000;', 'values="visible;hidden" keyTimes="0;') : g)).join(""));
}

/** bare returns a copy of a picture without what is only for the page. */
function bare(svg: SVGSVGElement): SVGSVGElement {
	const copy = svg.cloneNode(true) as SVGSVGElement;
	for (const e of copy.querySelectorAll(".over, .target, .reach")) e.remove();
	for (const e of copy.querySelectorAll("*")) for (const { name } of [...e.attributes]) if (/^(role|tabindex|aria-|data-)/.test(name)) e.removeAttribute(name);
	return copy;
}

/** sheet returns an SVG file of that size and contents, with the rules that apply to it. */
function sheet({ width, height }: Size, inside: string): string {
	const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	box.innerHTML = inside;
	const rules: string[] = [];
	for (const { cssRules } of document.styleSheets) {
		for (const rule of cssRules) {
			if (!(rule instanceof CSSStyleRule)) continue;
			const root = rule.selectorText === ":root";
			const selector = rule.selectorText.replaceAll(".picture ", "");
			if (root || matches(box, selector)) rules.push(rule.cssText.replace(rule.selectorText, selector));
		}
	}
	const title = (doc.value?.title ?? "").replace(/[&<]/g, (c) => (c === "&" ? "&amp;" : "&lt;"));
	const style = rules.join("\n").replace("color-scheme: light dark", "color-scheme: light").replaceAll("<", "&lt;");
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><title>${title}</title><style>${style}</style><rect width="100%" height="100%" style="fill:var(--paper)"/>${inside}</svg>\n`;
}

/** matches returns whether a rule applies to something in a picture. */
function matches(box: SVGSVGElement, selector: string): boolean {
	if (selector.includes("::") || selector.includes(":hover") || selector.includes(":focus")) return false;
	try {
		return box.querySelector(selector) !== null;
	} catch {
		return false;
	}
}
