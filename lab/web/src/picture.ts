// The picture of the group as a file: as it is now, or animated, step by step.

import { cursor, doc, seek } from "./shown";
import { stepAfter } from "./story";

const mostFrames = 200; // steps of an animated picture
const beat = 0.9; // seconds per step

/** A sheet collects pictures, their size, and the rules that apply to them. */
class Sheet {
	private readonly rules = new Set<CSSStyleRule>();
	private width = 0;
	private height = 0;

	/** add returns a picture as markup. */
	add(svg: SVGSVGElement): string {
		const { width, height } = svg.getBoundingClientRect();
		[this.width, this.height] = [Math.max(this.width, width), Math.max(this.height, height)];
		for (const { cssRules } of document.styleSheets) {
			for (const rule of cssRules) if (rule instanceof CSSStyleRule && !this.rules.has(rule) && applies(svg, rule.selectorText)) this.rules.add(rule);
		}
		return [...svg.childNodes].map(markup).join("");
	}

	/** file returns an SVG file with the given markup in it. */
	file(inside: string): string {
		const style = [...this.rules].map((r) => r.cssText.replaceAll(".picture ", "")).join("\n").replace("color-scheme: light dark", "color-scheme: light");
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"><title>${escaped(doc.value?.title ?? "")}</title><style>${escaped(style)}</style><rect width="100%" height="100%" style="fill:var(--paper)"/>${inside}</svg>\n`;
	}
}

/** applies returns whether a rule applies to something in a picture. */
function applies(svg: SVGSVGElement, selector: string): boolean {
	if (selector === ":root") return true;
	return !/::|:hover|:focus/.test(selector) && svg.querySelector(selector) !== null;
}

/** markup returns an element as text, without what is only for the page. */
function markup(node: Node): string {
	if (node instanceof Text) return escaped(node.data);
	if (!(node instanceof SVGElement) || node.matches(".over, .target, .reach")) return "";
	const all = [...node.attributes].filter(({ name }) => !/^(role|tabindex|aria-|data-)/.test(name)).map(({ name, value }) => ` ${name}="${escaped(value)}"`);
	return `<${node.localName}${all.join("")}>${[...node.childNodes].map(markup).join("")}</${node.localName}>`;
}

function escaped(words: string): string {
	return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** groupPicture returns the picture of the group as SVG; empty if there is none. */
export function groupPicture(): string {
	const svg = document.querySelector<SVGSVGElement>(".picture svg");
	const sheet = new Sheet();
	return svg ? sheet.file(sheet.add(svg)) : "";
}

/**
 * groupMovie returns an animated SVG of the run from its beginning; empty if there is no
 * picture, or the run has too many steps. The cursor comes back to where it was.
 */
export async function groupMovie(): Promise<string> {
	const d = doc.value;
	if (!d || !document.querySelector(".picture svg")) return "";
	const stops = [0];
	while (stops.at(-1)! < d.events.length && stops.length <= mostFrames) stops.push(stepAfter(d, stops.at(-1)!));
	if (stops.length > mostFrames) return "";
	const was = cursor.value;
	const sheet = new Sheet();
	const frames: string[] = [];
	for (const at of stops) {
		seek(at);
		await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		frames.push(sheet.add(document.querySelector<SVGSVGElement>(".picture svg")!));
	}
	seek(was);
	const part = (n: number) => (n / frames.length).toFixed(5);
	return sheet.file(frames.map((frame, i) => {
		const [values, times] = i === 0 ? ["visible;hidden", `0;${part(1)}`] : ["hidden;visible;hidden", `0;${part(i)};${part(i + 1)}`];
		return `<g visibility="hidden"><animate attributeName="visibility" dur="${frames.length * beat}s" repeatCount="indefinite" calcMode="discrete" values="${values}" keyTimes="${times}"/>${frame}</g>`;
	}).join(""));
}
