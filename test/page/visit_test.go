package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// odd lists what is drawn of no number or no value, and what makes the page wider than
// its window.
const odd = `(() => {
	const bad = [];
	for (const e of document.querySelectorAll("#app *")) {
		for (const {name, value} of e.attributes) if (/NaN|undefined|Infinity/.test(value)) bad.push(e.tagName + " " + name + "=" + value.slice(0, 60));
		for (const n of e.childNodes) if (n.nodeType == 3 && /\bNaN\b|\bundefined\b|\[object/.test(n.data)) bad.push(e.tagName + " " + n.data.slice(0, 60));
	}
	if (document.documentElement.scrollWidth > innerWidth) bad.push("the page is " + document.documentElement.scrollWidth + " wide");
	return bad.slice(0, 5);
})()`

// What is in the gallery opens, and is shown from beginning to end without a
// complaint: of every group some, since each takes a while.
func TestGalleryOpens(t *testing.T) {
	t.Parallel()
	v := &visit{page: open(t, serve(t, labOf(t, &bench{})))}
	v.see(".exhibit.is-first")
	files := eval[[]string](v.page, `[...document.querySelectorAll(".exhibit code")].map((e) => e.textContent)`)
	for i, file := range files {
		if i%10 != 0 && !nightly() {
			continue
		}
		if i > 0 {
			eval[bool](v.page, `document.querySelector("nav button").click(), true`)
		}
		v.until(`document.querySelectorAll(".exhibit").length == ` + fmt.Sprint(len(files)))
		want := eval[string](v.page, fmt.Sprintf(`(b => { const title = b.querySelector("strong").textContent; b.click(); return title })([...document.querySelectorAll(".exhibit")][%d])`, i))
		v.until(fmt.Sprintf(`!document.querySelector("dialog[open]") && document.querySelector("h1").innerText == %q`, want))
		for _, key := range []string{"End", "ArrowLeft", "v", "Home", "e"} {
			eval[bool](v.page, fmt.Sprintf(`dispatchEvent(new KeyboardEvent("keydown", {key: %q})), new Promise((done) => requestAnimationFrame(() => done(true)))`, key))
		}
		if bad := eval[[]string](v.page, odd); len(bad) > 0 {
			t.Errorf("%s: %q", file, bad)
		}
		for _, what := range v.complaints() {
			t.Errorf("%s: the page complains: %s", file, what)
		}
	}
	if len(files) < 20 {
		t.Errorf("the gallery has only %q", files)
	}
}

// A graph of resources, which does not run, is a picture in the colours of the page, in
// which steps can be seen, and the page goes on. There is nothing to check of it.
func TestGraphIsShown(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, example(t, "raymond-a"))}
	eval[bool](v.page, fmt.Sprintf(`(a => { a.focus(); a.value = %q; a.dispatchEvent(new Event("input", {bubbles: true})); return true })(document.querySelector("textarea"))`, example(t, "graph-no-cycle")))
	v.until(`document.querySelectorAll(".whole circle").length == 4 && document.querySelector("h1").innerText.startsWith("No cycle")`)
	v.until(`document.querySelector("[data-tour=check]").disabled && document.querySelector("[data-tour=check]").title.includes("nothing to check")`)
	eval[bool](v.page, `document.activeElement.blur(), true`)
	v.key("k")
	v.until(`document.querySelector(".notice")?.innerText.includes("nothing to check") && !document.querySelector("dialog[open]")`)
	v.press("close")
	v.key(kb.Home)
	v.until(`document.querySelectorAll(".whole circle").length > 0 && !document.querySelector(".whole .reduced")`)
	v.key(kb.ArrowRight)
	v.until(`document.querySelectorAll(".whole .node.reduced").length == 1`)
	v.readable("graph")
	v.do(chromedp.EmulateViewport(400, 800))
	v.until(`Math.min(...[...document.querySelectorAll(".whole text")].map((e) => e.getBoundingClientRect().height)) >= 12`)
	v.press("Undo")
	v.until(`document.querySelector("h1").innerText.startsWith("Raymond") && document.querySelector(".dot")`)
}

// A new scenario can be had of every algorithm, and runs.
func TestFreshOfAll(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, example(t, "raymond-a"))}
	v.show("fresh")
	v.until(`document.querySelectorAll(".fresh option").length > 10`)
	names := eval[[]string](v.page, `[...document.querySelector(".fresh select").options].map((o) => o.value)`)
	for i, name := range some(4, names) {
		if i > 0 {
			v.key("n")
		}
		v.until(`document.querySelector(".fresh select")?.options.length == ` + fmt.Sprint(len(names)))
		eval[bool](v.page, fmt.Sprintf(`(s => { s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); return true })(document.querySelector(".fresh select"))`, name))
		v.until(fmt.Sprintf(`document.querySelector(".fresh select").value == %q`, name))
		eval[bool](v.page, `document.querySelector(".fresh").requestSubmit(), true`)
		v.until(fmt.Sprintf(`!document.querySelector("dialog[open]") && new RegExp("^algorithm " + %q + "( |$)", "m").test(document.querySelector("textarea").value) || document.querySelector(".fresh .trouble")`, strings.ReplaceAll(name, "+", `\+`)))
		if said := v.text(".fresh .trouble"); said != "" {
			t.Errorf("%s: %s", name, said)
			v.key(kb.Escape)
			continue
		}
		v.until(`document.querySelector("main").dataset.state != "busy" && document.querySelector("#editor-fault").innerText == ""`)
		v.key(kb.ArrowRight + kb.ArrowRight + kb.End)
		if bad := eval[[]string](v.page, odd); len(bad) > 0 {
			t.Errorf("%s: %q", name, bad)
		}
	}
	if len(names) < 20 {
		t.Errorf("there are only %q", names)
	}
}

// A wrong algorithm is checked, its counterexample is a branch that ends where it
// breaks, the address of that shows it to somebody else, and what was there is kept.
func TestFromCheckToAddress(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, "title Wrong\nalgorithm bakery-naive\nprocesses 3\nat 0 P1 asks\n")}
	before := eval[string](v.page, `document.querySelector("textarea").value`)
	v.show("check")
	v.press("Check")
	v.see(".check-verdict.is-broken")
	v.press("Open the shortest counterexample")
	v.until(`!document.querySelector("dialog[open]") && document.querySelectorAll(".branches [aria-pressed]").length == 2`)
	v.key(kb.Home + "v")
	v.until(`document.querySelector(".event.current")?.classList.contains("violation")`)
	v.until(`/#s=[\w-]+&c=[1-9]\d*$/.test(location.href)`)
	text, href := eval[string](v.page, `document.querySelector("textarea").value`), eval[string](v.page, `location.href`)
	v.press("main")
	v.holds(before)
	v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(href))
	v.until(`document.querySelector("textarea")?.value.length > 0`)
	v.holds(text)
	v.until(`document.querySelector(".event.current")?.classList.contains("violation")`)
}

// A check and the page number the steps of a counterexample alike: what is told when it
// is over is no step of its own.
func TestStepsAgree(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, example(t, "maekawa-naive-three"))}
	v.show("check")
	v.press("Check")
	v.see(".check-verdict.is-broken")
	v.says(".check-verdict", "after 6 steps")
	v.press("Open the shortest counterexample")
	v.until(`!document.querySelector("dialog[open]") && document.querySelectorAll(".branches [aria-pressed]").length == 2`)
	v.says(".now-line", "now step 6")
	v.says(".properties .broken button", "go to step 6")
	v.says(".event.current .when", "6")
	v.press("by event")
	v.says(".now-line", "now step 6")
	v.key(kb.Home + strings.Repeat(kb.ArrowRight, 5))
	v.says(".now-line", "now step 5")
	v.until(`(([a, b]) => a && b && Math.abs(a.x + a.width / 2 - b.x - b.width / 2) < 4)([[...document.querySelectorAll(".axis text")].find((e) => e.textContent == "5"), document.querySelector(".ring.current")].map((e) => e?.getBoundingClientRect()))`)
}
