package page

import (
	"strings"

	"github.com/chromedp/chromedp/kb"
)

// These checks look at all that a page shows at the moment. Journeys make them wherever they come
// to a view that looks different from those before.

// sound reports what of a view cannot be read, has no name for those who hear the page, or is
// not what was meant, on light and dark pages.
func (p *page) sound(where string) {
	p.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.media("prefers-color-scheme", scheme)
		// In one go: between two, a colour may begin to change.
		p.until(`document.getAnimations().every((a) => a.playState != "running") && (window.pale = ` + pale + `)`)
		for _, what := range eval[[]string](p, `window.pale`) {
			p.t.Errorf("%s, %s: hardly legible: %s", where, scheme, what)
		}
	}
	p.tidy(where)
	for _, what := range eval[[]string](p, nameless) {
		p.t.Errorf("%s: without a name: %s", where, what)
	}
}

// tidy reports what is drawn of no number or no value, and what makes a page wider than its
// window.
func (p *page) tidy(where string) {
	p.t.Helper()
	for _, what := range eval[[]string](p, odd) {
		p.t.Errorf("%s: %s", where, what)
	}
}

const odd = `(() => {
	const bad = [];
	for (const e of document.querySelectorAll("#app *")) {
		for (const {name, value} of e.attributes) if (/NaN|undefined|Infinity/.test(value)) bad.push(e.tagName + " " + name + "=" + value.slice(0, 60));
		for (const n of e.childNodes) if (n.nodeType == 3 && /\bNaN\b|\bundefined\b|\[object/.test(n.data)) bad.push(e.tagName + " " + n.data.slice(0, 60));
	}
	if (document.documentElement.scrollWidth > innerWidth) bad.push("the page is " + document.documentElement.scrollWidth + " wide");
	for (const e of document.querySelectorAll("dialog[open] :is(button, input, select)")) if (e.checkVisibility() && !e.closest(".compare-map") && e.getBoundingClientRect().right > innerWidth) bad.push(e.innerText + " is out of sight");
	return bad.slice(0, 5);
})()`

// nameless are elements that can be used and have no name, and ids that are not unique.
const nameless = `(() => {
	const name = (e) => e.getAttribute("aria-label") || document.getElementById(e.getAttribute("aria-labelledby"))?.innerText || [...(e.labels ?? [])].map((l) => l.innerText).join("") || e.title || e.textContent.trim();
	const bad = [...document.querySelectorAll("button, a[href], input, select, textarea, dialog[open], [role=button], [role=menuitem], [role=slider], [role=group], [tabindex='0']")]
		.filter((e) => e.checkVisibility() && !e.closest("[aria-hidden=true]") && !name(e)).map((e) => e.outerHTML.slice(0, 80));
	const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
	for (const [i, id] of ids.entries()) if (ids.indexOf(id) != i) bad.push("a second #" + id);
	if (!document.title || !document.documentElement.lang) bad.push("the page");
	return bad.slice(0, 5);
})()`

// pale lists words whose contrast to what is behind them is less than 4.5 to 1. What cannot be
// used now, and what comes only later in the diagram, may be pale.
const pale = `(() => {
	const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true}), known = new Map();
	const read = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const rgb = (colour) => known.get(colour) ?? known.set(colour, read(colour)).get(colour);
	const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((n, v, i) => n + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => {
		const drawn = e.closest(".process")?.querySelector(".body") ?? e.closest(".letter, .token")?.querySelector("circle") ?? e.closest(".pill, .lock")?.querySelector("rect");
		if (e instanceof SVGElement && drawn) return rgb(getComputedStyle(drawn).fill);
		if (e.matches(".on-inside")) return rgb(getComputedStyle(document.querySelector(".bar.inside")).fill);
		for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] == 255) return c; }
		return rgb("Canvas");
	};
	const bad = [];
	const over = document.querySelector("dialog[open]");
	for (const e of document.querySelectorAll(over ? "dialog[open] *" : "#app *")) {
		if (!e.checkVisibility() || e.disabled || e.ariaDisabled || e.closest("textarea, option, title, .later, .concurrent, .over, .is-crashed") || ![...e.childNodes].some((n) => n.nodeType == 3 && n.data.trim())) continue;
		const style = getComputedStyle(e);
		const [a, b] = [light(rgb(e instanceof SVGElement ? style.fill : style.color)), light(behind(e))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.push((e.getAttribute("class") ?? "") + " " + e.tagName + " " + e.textContent.slice(0, 30) + ": " + ratio.toFixed(2));
	}
	return [...new Set(bad)].slice(0, 5);
})()`

// reached goes through the page with Tab, and reports what can be used and is never reached, and
// what does not show that it has the focus.
func (p *page) reached(where string) {
	p.t.Helper()
	wanted := eval[int](p, `(() => {
		const all = [...(document.querySelector("dialog[open]") ?? document).querySelectorAll("button, select, input, textarea, a[href], [role=button], [role=slider], .plot, .scroll")]
			.filter((e) => !e.disabled && e.checkVisibility() && !e.closest(".events li, .editor-gutter, .list tr:nth-child(n+2), .graph-sheet") && !(e.type == "radio" && !e.checked));
		window.unreached = new Set(all);
		window.unseen = new Set();
		document.activeElement.blur();
		addEventListener("focusin", ({target: e}) => {
			unreached.delete(e);
			const shown = [e, ...e.children, e.closest(".editor-scroll")].some((x) => x && getComputedStyle(x).outlineStyle !== "none" && parseFloat(getComputedStyle(x).outlineWidth) >= 1);
			if (!shown) unseen.add(e);
		});
		return all.length;
	})()`)
	p.key(strings.Repeat(kb.Tab, wanted+20))
	const names = `.map((e) => e.tagName + "." + e.getAttribute("class") + " " + (e.getAttribute("aria-label") ?? e.textContent).slice(0, 40))`
	for _, what := range eval[[]string](p, `[...unreached].filter((e) => e.isConnected)`+names) {
		p.t.Errorf("%s: Tab never gets to %s", where, what)
	}
	for _, what := range eval[[]string](p, `[...unseen]`+names) {
		p.t.Errorf("%s: does not show that it has the focus: %s", where, what)
	}
}

// uncrowded reports what of the picture of a group cannot be read: words on words, words that
// something else lies on or that do not fit into what they are in, and what leaves the picture.
func (p *page) uncrowded(where string) {
	p.t.Helper()
	for _, what := range eval[[]string](p, crowded+`()`) {
		p.t.Errorf("%s: %s", where, what)
	}
}

const crowded = `(() => {
	const picture = document.querySelector(".picture"), edge = picture.getBoundingClientRect(), bad = [];
	const seen = (e) => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
	const all = (what) => [...picture.querySelectorAll(what)].filter(seen).map((e) => ({e, b: e.getBoundingClientRect(), owner: e.closest(".process, .letter, .pill, .token, .lock, .resource, .site, .wait, .arc") ?? e}));
	const name = ({e, owner}) => JSON.stringify((owner.getAttribute("class") ?? owner.tagName).split(" ")[0] + " " + (e.textContent || owner.querySelector("text")?.textContent || e.tagName));
	const words = all("text").filter(({b}) => b.width > 0).map((w) => ({...w, b: {left: w.b.left + 0.5, right: w.b.right - 0.5, top: w.b.top + w.b.height * 0.16, bottom: w.b.bottom - w.b.height * 0.16}}));
	const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
	const inside = (a, b, by) => a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
	for (const [i, w] of words.entries()) for (const o of words.slice(i + 1)) if (meet(w.b, o.b)) bad.push(name(w) + " lies on " + name(o));
	const far = (b, x, y) => Math.hypot(Math.max(Math.abs(b.left - x), Math.abs(b.right - x)), Math.max(Math.abs(b.top - y), Math.abs(b.bottom - y)));
	const near = (b, x, y) => Math.hypot(Math.max(0, b.left - x, x - b.right), Math.max(0, b.top - y, y - b.bottom));
	const round = ({b}) => [(b.left + b.right) / 2, (b.top + b.bottom) / 2, (b.right - b.left) / 2];
	for (const c of all("circle:not(.target)")) {
		const [x, y, r] = round(c), hollow = c.e.matches(".halo, .trapped");
		for (const w of words) if (w.owner !== c.owner && !(w.owner.matches(".token") && c.owner.matches(".process")) && near(w.b, x, y) < r - 0.5 && !(hollow && far(w.b, x, y) < r)) bad.push(name(c) + " crosses " + name(w));
	}
	for (const s of all(".pill rect, .lock rect, .resource rect, .star, .tick")) for (const w of words) if (w.owner !== s.owner && meet(w.b, s.b)) bad.push(name(s) + " crosses " + name(w));
	for (const s of all(".site rect, .cell")) for (const w of words) if (meet(w.b, s.b) && !inside(w.b, s.b, 1) && !w.owner.matches(".letter, .wait")) bad.push("the edge of " + name(s) + " crosses " + name(w));
	for (const w of words) {
		const own = w.owner.querySelector(":scope > rect") ?? (w.e.matches(".far") ? null : w.owner.querySelector(":scope > circle.body, :scope > circle"));
		if (own && own !== w.e && !inside(w.b, own.getBoundingClientRect(), 1)) bad.push(name(w) + " does not fit in");
	}
	for (const s of all("circle, rect, text, line, path")) if (!s.e.closest("defs") && !inside(s.b, edge, 1)) bad.push(name(s) + " leaves the picture");
	return [...new Set(bad)];
})`
