package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A teacher presents an example with captions and speaker notes, by one key.
func TestPresent(t *testing.T) {
	needsBrowser(t)
	p := show(t, example(t, "ricart-agrawala-a"))
	p.says(".caption p", "P1 and P2 want")
	p.until(`[...document.querySelectorAll(".plot-words text")].some((e) => e.textContent.includes("(34,P2)"))`) // the stamp that decides
	p.key("s")
	p.says(".caption p", "(34,P2)")
	p.key("p")
	p.until(`document.documentElement.dataset.mode == "present" && !document.querySelector("textarea").checkVisibility() && document.querySelector(".plot").checkVisibility()`)
	p.key(kb.PageDown + kb.PageDown)
	p.says(".caption small", "4 of 6")
	p.process(2, "inside")
	p.key("w")
	p.until(`document.querySelectorAll(".notes li").length == 2`)
	p.sound("a presentation")
	p.key(kb.PageUp + kb.Escape)
	p.says(".caption small", "3 of 6")
	p.sees("textarea")
}

// A teacher asks which process enters next. Nothing on the page gives the answer away.
func TestQuiz(t *testing.T) {
	needsBrowser(t)
	p := show(t, "title P2 is the first\nalgorithm central\nprocesses 3\nhold 9\n\n# P2 enters first\nsay \"Two ask.\"\nat 1 P2 asks\nwhen P2 enters say \"P2 is inside.\"\nat 4 P3 asks\nexpect entries 2 3\n")
	// What can be read of the page: not what is hidden, and not what the veil covers.
	const read = `[...document.querySelectorAll("h1, .editor-painted, .editor-findings, .events ol, .why, .caption, .measures, .card, .plot-words text, textarea")].filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true })).map((e) => e.value ?? e.innerText ?? e.textContent).join(" | ")`
	const answers = `/is the first|enters first|is inside|P2 asks|P2 enters|P3|entries 2/`
	p.until(answers + `.test(` + read + `)`)
	p.key(kb.Home + "q")
	p.sees(".veil.opaque")
	p.until(`!` + answers + `.test(` + read + `)`)
	p.says(".editor", "hold 9")
	p.pointAt(".event.later")
	p.frame()
	p.until(`!` + answers + `.test(` + read + `)`)
	p.sound("a quiz")
	p.press("P3")
	p.says(".notice", "No: P2 enters")
	p.says(".quiz", "0 of 1")
	p.press("P3")
	p.says(".notice", "Right: P3 enters")
	p.says(".quiz", "No process enters after this", "1 of 2")
	p.press("End the quiz")
	p.says(".editor-painted", "expect entries 2 3")
}

// A teacher puts a run into a page of the course, in a frame and as one file that needs no server.
func TestEmbed(t *testing.T) {
	needsBrowser(t)
	text := example(t, "ricart-agrawala-a")
	const bare = `document.title.startsWith("Ricart") && !document.querySelector("textarea").checkVisibility() && !document.querySelector("dialog[open]") && document.querySelectorAll(".process").length == 3`
	p := open(t, labURL(t)+"/?embed"+fragment(t, text))
	p.until(bare)
	p.key("s")
	p.says(".caption small", "2 of 6")

	p.goes(labURL(t) + "/" + fragment(t, text))
	p.ran()
	p.catching()
	p.key("x")
	p.press("Copy Frame")
	p.until(`window.copied?.startsWith("<iframe ") && /\?embed=?#s=/.test(copied)`)
	p.press("Save animated Group")
	p.until(`saved.svg`)
	if n := eval[int](p, `saved.svg.text().then((s) => s.split("<animate ").length - 1)`); n < 10 {
		t.Errorf("the animation has %d frames", n)
	}
	p.press("Save Page")
	p.until(`saved.html`)
	file := filepath.Join(t.TempDir(), "run.html")
	if err := os.WriteFile(file, []byte(eval[string](p, `saved.html.text()`)), 0o644); err != nil {
		t.Fatal(err)
	}
	p.goes("file://" + file)
	p.until(bare)
	p.key("ss")
	p.says(".caption small", "3 of 6")
}

// A teacher compares algorithms, stops what takes too long, and opens the run of a cell.
func TestCompare(t *testing.T) {
	needsBrowser(t)
	p := show(t, twoAsk)
	p.dialog("compare")
	p.fill("three")
	p.key(kb.Enter)
	p.says(".panel .trouble", "whole numbers")
	p.fill("25, 36, 49, 64")
	p.key(kb.Enter)
	p.press("Stop")
	p.says(".panel [role=status]", "Stopped after")
	for _, f := range [][2]string{{"Processes", "3"}, {"Rest", "0"}, {"Time", "1"}} {
		p.clickOn(".compare-form input", f[0])
		p.fill(f[1])
	}
	p.press("Compare")
	p.says(".panel [role=status]", "The best in each column is marked.")
	p.says(".compare-map", "ricart-agrawala")
	p.sees(".compare-cell.is-best")
	p.sound("a comparison")
	p.press("raymond, 3 processes")
	p.gone("dialog[open]")
	p.written("algorithm raymond\nprocesses 3")
}

// nightly reports whether a journey may take long.
func nightly() bool { return os.Getenv("STILE_NIGHTLY") != "" }

// some returns one in n of a list, or all of it in nightly runs.
func some[T any](n int, all []T) []T {
	var few []T
	for i, it := range all {
		if nightly() || i%n == 0 {
			few = append(few, it)
		}
	}
	return few
}

// A teacher writes scenarios for a lecture from a few choices: every algorithm can be chosen, and
// runs.
func TestNewScenario(t *testing.T) {
	needsBrowser(t)
	p := show(t, twoAsk)
	p.dialog("fresh")
	p.until(`document.activeElement.matches(".fresh select")`)
	names := eval[[]string](p, `[...document.querySelector(".fresh select").options].map((o) => o.value)`)
	if len(names) < 20 {
		t.Errorf("there are only %q", names)
	}
	choose := func(name string) {
		p.until(`document.querySelector(".fresh select").options.length == ` + fmt.Sprint(len(names)))
		eval[bool](p, `(s => { s.value = `+quote(name)+`; s.dispatchEvent(new Event("change", {bubbles: true})); return true })(document.querySelector(".fresh select"))`)
	}
	choose("bakery-naive")
	p.says(".fresh-about", "Wrong on purpose")
	p.tabTo(".fresh input", "Processes")
	p.fill("1000")
	p.key(kb.Enter)
	p.says(".fresh .trouble", "at most 100 processes")
	p.fill("4")
	p.key(kb.Enter)
	p.gone("dialog[open]")
	p.written("algorithm bakery-naive\nprocesses 4\n")
	for _, name := range some(6, names) {
		p.key("n")
		choose(name)
		eval[bool](p, `document.querySelector(".fresh").requestSubmit(), true`)
		p.until(`!document.querySelector("dialog[open]") || document.querySelector(".fresh .trouble")`)
		if why := p.text(".fresh .trouble"); why != "" {
			t.Errorf("%s: %s", name, why)
			p.leave()
			continue
		}
		p.written("algorithm " + name)
		p.gone(".finding.is-fault")
		p.key(kb.End)
		p.tidy(name)
	}
}

// A teacher opens what the gallery has: each scenario runs as it says, and all words of its
// picture can be read, on wide pages and narrow ones.
func TestGallery(t *testing.T) {
	needsBrowser(t)
	p := window(t)
	p.media("prefers-reduced-motion", "reduce")
	p.goes(labURL(t))
	p.sees(".exhibit.is-first")
	type exhibit struct {
		File string `json:"file"`
		Text string `json:"text"`
	}
	all := eval[[]exhibit](p, `fetch("api/gallery", {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then((r) => r.json()).then((a) => a.groups.flatMap((g) => g.items.map(({file, text}) => ({file, text}))))`)
	if n := eval[int](p, `document.querySelectorAll(".exhibit").length`); len(all) < 50 || n != len(all) {
		t.Fatalf("the gallery shows %d of %d scenarios", n, len(all))
	}
	p.leave()
	for i, it := range some(17, all) {
		p.size([]int64{1280, 400}[i%2], 800)
		eval[bool](p, `location.hash = `+quote(fragment(t, it.Text))+`, true`)
		p.written(it.Text)
		for _, key := range []string{kb.Home, "e", "e", kb.ArrowLeft + kb.ArrowLeft, "v", kb.End} {
			p.key(key)
			p.frame()
			p.uncrowded(it.File + ", " + p.text(".count"))
		}
		p.tidy(it.File)
		p.gone(".finding.is-fault, .finding.is-unmet")
	}
}

// Pages of the lab can be read and used by everyone: every view is looked at in light and dark.
func TestLabForAll(t *testing.T) {
	needsBrowser(t)
	p := show(t, example(t, "bakery-naive-two-in"))
	p.key("v")
	p.sees(".plot-words .on-violation")
	p.sound("two inside")
	p.key(kb.Home)
	p.steps(2)
	p.key("2")
	p.sees("[role=menu]")
	p.sound("a menu")
	p.key(kb.Escape + "i")
	p.sees(".card")
	p.sound("an event")
	p.key(kb.Escape)
	for _, key := range []string{"g", "n", "k", "o", "x", "?"} {
		p.key(key)
		p.sees("dialog[open] :is(.exhibit, .fresh select, .check-setting, .compare-form, .exports, .keys)")
		p.sound("the dialog of " + key)
		p.leave()
	}
	for _, name := range []string{"graph-cycle", "bully-5-of-8"} {
		p.goes(labURL(t) + "/" + fragment(t, example(t, name)))
		p.sees(".process, .whole circle")
		p.key(kb.End)
		p.sound(name)
	}
	distinct(p)
	p.do(chromedp.EmulateReset())
}
