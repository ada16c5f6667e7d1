package page

import (
	"fmt"
	"math"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Words can be read on what is behind them, on light and dark pages: those of the page,
// of its pictures, of menus and of every dialog.
func TestContrast(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, broken)}
	v.key("v")
	v.until(`document.querySelector(".plot-words .on-violation")`)
	v.readable("two inside")
	v.key(kb.Home + kb.ArrowRight + kb.ArrowRight + "2")
	v.see("[role=menu]")
	v.readable("menu")
	v.key(kb.Escape + "i")
	v.see(".card")
	v.readable("an event")
	for _, name := range []string{"gallery", "fresh", "compare", "export"} {
		v.show(name)
		if name == "compare" {
			v.press("Compare")
			v.see(".compare-map")
		}
		v.readable(name)
		v.key(kb.Escape)
		v.until(`!document.querySelector("dialog[open]")`)
	}
	v.show("gallery")
	v.press("Take the tour")
	for n := 1; n <= 6; n++ {
		v.says(".tour-count", fmt.Sprintf("Step %d of 6", n))
		v.readable(fmt.Sprintf("tour %d", n))
		v.key(kb.Enter)
	}
	v.see("dialog.panel-check")
	v.until(`document.querySelector(".check-verdict, .check-standing progress")`)
	v.readable("check of the tour")
	v.see(".check-verdict")
	v.key(kb.Escape)
	v.until(`!document.querySelector("dialog[open]")`)
	v.key("g")
	v.see("dialog.panel-gallery")
	v.press("The bank that loses")
	v.until(`!document.querySelector("dialog[open]")`)
	v.show("check")
	v.press("Check")
	v.see(".check-verdict")
	v.readable("check")
	v.press("Open the shortest counterexample")
	v.see(".branches")
	v.readable("branch")
	v.key("?")
	v.see(".keys")
	v.readable("keys")
	if dark := eval[string](v.page, `getComputedStyle(document.documentElement).backgroundColor`); dark != "rgb(22, 24, 29)" {
		t.Errorf("a dark page is %s", dark)
	}
}

// readable says which words cannot be read, on light and dark pages.
func (v *visit) readable(where string) {
	v.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		v.media("prefers-color-scheme", scheme)
		// In one go: between two, a colour may begin to change.
		v.until(`document.getAnimations().every((a) => a.playState != "running") && (window.pale = ` + contrast + `)`)
		for _, what := range eval[[]string](v.page, `window.pale`) {
			v.t.Errorf("%s, %s: %s", where, scheme, what)
		}
	}
}

// contrast lists words whose contrast to what is behind them is less than 4.5 to 1.
// What cannot be used now, and what comes only later in the diagram, may be pale.
const contrast = `(() => {
	const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
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
	return [...new Set(bad)];
})()`

// A sight is how an eye sees red, green and blue light, each as a mixture of the
// three: after Machado, Oliveira and Fernandes, for eyes that lack one kind of cone.
type sight [3][3]float64

var sights = map[string]sight{
	"all colours":   {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"without red":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"without green": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"without blue":  {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// seen is a colour as an eye sees it: lightness and two directions of colour (CIELAB).
func (s sight) seen(rgb [3]float64) [3]float64 {
	var in, out, xyz [3]float64
	for i, v := range rgb {
		v /= 255
		if in[i] = v / 12.92; v > 0.04045 {
			in[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	for i := range out {
		out[i] = min(1, max(0, s[i][0]*in[0]+s[i][1]*in[1]+s[i][2]*in[2]))
	}
	for i, m := range [3][3]float64{{0.4339, 0.3762, 0.1899}, {0.2126, 0.7152, 0.0722}, {0.0178, 0.1095, 0.8727}} {
		v := m[0]*out[0] + m[1]*out[1] + m[2]*out[2]
		if xyz[i] = 7.787*v + 16.0/116; v > 0.008856 {
			xyz[i] = math.Cbrt(v)
		}
	}
	return [3]float64{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
}

// Whoever lacks a kind of cone tells apart what the page says by colours: who waits, is
// inside or idle, what is broken, and where the cursor is.
func TestColourBlind(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	names := []string{"paper", "orange", "green", "alarm", "accent"}
	for _, scheme := range []string{"light", "dark"} {
		p.media("prefers-color-scheme", scheme)
		var colours [][3]float64
		for _, name := range names {
			colours = append(colours, eval[[3]float64](p, fmt.Sprintf(`(() => { const e = document.body.appendChild(document.createElement("p")); e.style.color = "var(--%s)"; const c = getComputedStyle(e).color.match(/[\d.]+/g).slice(0, 3).map(Number); e.remove(); return c })()`, name)))
		}
		for eye, sight := range sights {
			for i := range colours {
				for j := range i {
					a, b := sight.seen(colours[i]), sight.seen(colours[j])
					if far := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); far < 12 {
						t.Errorf("%s, %s: %s and %s are only %.1f apart", scheme, eye, names[i], names[j], far)
					}
				}
			}
		}
	}
}
