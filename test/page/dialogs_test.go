package page

import (
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const scenarioText = "title Two ask\nalgorithm central\nprocesses 2\n\nat 1 P1 asks\nat 2 P2 asks\nexpect entries 1 2\nexpect entries 2 1\n"

// TestDialogs goes through the editor and the dialogs, in a few windows.
func TestDialogs(t *testing.T) {
	t.Parallel()
	windows := make(chan *page, 3)
	for range cap(windows) {
		windows <- open(t, "about:blank")
	}
	for _, c := range []struct {
		name string
		test func(*visit)
	}{
		{"gallery by mouse", galleryByMouse},
		{"gallery by keyboard", galleryByKeyboard},
		{"a title is text", titleIsText},
		{"new by keyboard", freshByKeyboard},
		{"check is stopped", checkStopped},
		{"check proves", checkProves},
		{"check breaks", checkBreaks},
		{"compare", compareOpens},
		{"export", exports},
		{"focus stays", focusStays},
		{"tour", tour},
		{"tour is left", tourLeft},
		{"typing", typing},
		{"error", errorAtLine},
		{"expectations", expectations},
		{"lines", lineSeeks},
		{"undo", undoes},
		{"branch", branches},
		{"address", address},
		{"broken address", brokenAddress},
		{"long text", longText},
		{"narrow", narrow},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := <-windows
			t.Cleanup(func() { windows <- p })
			v := visiting(t, p, newFakeLab(scenarioText))
			c.test(v)
			for _, what := range v.complaints() {
				t.Errorf("the page complains: %s", what)
			}
		})
	}
}

// A visit is a page that was just opened, of a fake lab.
type visit struct {
	*page
	lab *fakeLab
	url string
	all *census // that counts whatever comes up, if there is one
}

func visiting(t testing.TB, p *page, d *fakeLab) *visit {
	s := httptest.NewServer(labOf(t, d))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	mine := *p
	mine.t = t
	v := &visit{page: &mine, lab: d, url: s.URL}
	t.Cleanup(func() {
		p.asked = v.asked
		_ = chromedp.Do(p.ctx, chromedp.Navigate("about:blank")) // before its server goes
	})
	v.do(chromedp.Navigate(s.URL))
	// What stands in the header moves its buttons, so that is waited for, too.
	v.until(`document.querySelector("textarea")?.value.startsWith("title") && document.querySelector(".chips") || document.querySelector("dialog[open]")`)
	return v
}

// at opens the page with another text, or with none.
func (v *visit) at(start string) {
	v.lab.start = start
	v.do(chromedp.Navigate(v.url + "/?" + url.QueryEscape(start)))
	v.until(`document.querySelector("textarea") && ` + alive)
}

// press clicks the button with these words that can be seen.
func (v *visit) press(words string) {
	v.t.Helper()
	v.clickOn("button", "^"+regexp.QuoteMeta(words))
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func (v *visit) says(selector, words string) {
	v.t.Helper()
	v.until(`document.querySelector(` + quote(selector) + `)?.innerText.includes(` + quote(words) + `)`)
}

func (v *visit) holds(text string) {
	v.t.Helper()
	v.until(`document.querySelector("textarea").value == ` + quote(text))
}

func (v *visit) show(name string) {
	v.t.Helper()
	v.press(map[string]string{"gallery": "Gallery", "fresh": "New", "check": "Check every", "compare": "Compare", "export": "Share"}[name])
	v.see("dialog.panel-" + name)
}

func galleryByMouse(v *visit) {
	v.at("") // no file: the gallery is what is seen first
	v.see("dialog.panel-gallery .exhibit.is-first")
	v.says(".exhibit.is-first", "The bank that loses 10,000")
	v.press("Raymond (a): 5, then 2")
	v.until(`!document.querySelector("dialog[open]") && document.title.includes("Raymond (a): 5, then 2")`)
}

func galleryByKeyboard(v *visit) {
	v.show("gallery")
	v.keys("frame by frame") // the search has the focus
	v.until(`document.querySelectorAll(".exhibit").length == 1`)
	v.keys(" nothing of the kind")
	v.says(".panel-body", "No scenario has all of these words")
	v.keys("a", kb.ModifierCtrl)
	v.keys("raymond frame")
	v.keys(kb.ArrowDown)
	v.until(`document.activeElement.classList.contains("exhibit")`)
	v.keys(kb.Enter)
	v.until(`!document.querySelector("dialog[open]") && document.title.includes("Raymond (a), frame by frame")`)
}

func titleIsText(v *visit) {
	v.caret(1)
	v.keys("<script>document.title='evil'</script><img src=x>")
	v.until(`document.title.startsWith("Two ask<script>document.title='evil'</script><img src=x>")`)
	if n := eval[int](v.page, `document.querySelectorAll("#app script, #app img").length`); n > 0 {
		v.t.Errorf("%d elements came of a title", n)
	}
}

func freshByKeyboard(v *visit) {
	v.show("fresh")
	v.until(`document.activeElement.matches(".fresh select")`)
	v.until(`document.querySelector("option[value=bakery-naive]").innerText.includes("wrong")`)
	v.keys("the bakery with")
	v.until(`document.querySelector(".fresh select").value == "bakery-naive"`)
	v.says(".fresh-about", "Wrong on purpose")
	v.keys(kb.Tab)
	v.keys("a", kb.ModifierCtrl)
	v.keys("1000")
	v.keys(kb.Enter)
	v.says(".fresh .trouble", "at most 100 processes")
	v.keys("a", kb.ModifierCtrl)
	v.keys("4")
	v.keys(kb.Enter)
	v.until(`!document.querySelector("dialog[open]") && document.querySelector("textarea").value.startsWith("algorithm bakery-naive\nprocesses 4\n")`)
}

func checkStopped(v *visit) {
	v.show("check")
	v.keys(kb.Enter)
	v.says("[data-number=states]", "12,345")
	v.press("Stop")
	v.says(".check-standing", "Nothing is proved")
	<-v.lab.stopped // the lab learns it
	v.keys(kb.Escape)
	v.until(`!document.querySelector("dialog[open]")`)
}

func checkProves(v *visit) {
	v.lab.verdict <- provedJSON
	v.show("check")
	v.press("Check")
	v.says(".check-verdict.is-proved", "Proved. central with 2 processes on a network that is fifo, when each process asks at most twice: mutual-exclusion holds in every order of events.")
	v.says("[data-number=depth]", "17")
	v.says(".check-properties", "up to 2 requests")
}

func checkBreaks(v *visit) {
	v.lab.verdict <- brokenJSON
	v.show("check")
	v.press("Check")
	v.says(".check-verdict.is-broken", "mutual-exclusion is violated after 9 steps.")
	v.press("Open the shortest counterexample")
	v.holds("algorithm bakery-naive\nprocesses 2\nschedule steps\nP1 asks\n")
	v.press("main") // what was there is still there
	v.holds(scenarioText)
}

func compareOpens(v *visit) {
	v.show("compare")
	v.keys("a", kb.ModifierCtrl)
	v.keys("three")
	v.keys(kb.Enter)
	v.says(".panel .trouble", "whole numbers")
	v.keys("a", kb.ModifierCtrl)
	v.keys("3, 5")
	v.keys(kb.Enter)
	v.says(".compare-map", "ricart-agrawala")
	v.press("raymond, 5 processes")
	v.until(`!document.querySelector("dialog[open]") && document.querySelector("textarea").value.includes("algorithm raymond\nprocesses 5") && document.title.startsWith("Raymond")`)
}

func exports(v *visit) {
	v.show("export")
	// What would be saved is caught, since a browser without a head asks nobody where to.
	eval[bool](v.page, `window.saved = [], HTMLAnchorElement.prototype.click = function() { saved.push(this.download); if (this.download.endsWith(".png")) window.picture = this.href }, true`)
	for _, name := range []string{"SVG", "PNG", "JSON", "ShiViz", "Scenario"} {
		v.press("Save " + name)
	}
	v.until(`[...saved].sort().join() == "two-ask.json,two-ask.png,two-ask.shiviz,two-ask.stile,two-ask.svg"`)
	eval[bool](v.page, countColours)
	v.until(`window.colours > 10`)
	v.press("Copy Command line")
	v.says(".panel .messages", "clipboard")
}

// countColours counts the colours of the PNG that was saved.
const countColours = `(async () => {
	const image = new Image();
	image.src = picture;
	await image.decode();
	const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
	pen.drawImage(image, 0, 0);
	window.colours = new Set(new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer)).size;
})(), true`

func focusStays(v *visit) {
	v.show("export")
	v.until(`document.activeElement.closest("dialog")`)
	for range 12 {
		v.keys(kb.Tab)
		if !eval[bool](v.page, `Boolean(document.activeElement.closest("dialog"))`) {
			v.t.Fatal("the focus left the dialog")
		}
	}
	v.keys(kb.Tab, kb.ModifierShift)
	v.keys(kb.Escape)
	v.until(`!document.querySelector("dialog[open]") && document.activeElement.innerText == "Share"`)
}

func tour(v *visit) {
	v.show("gallery")
	v.press("Take the tour")
	for n := range 6 {
		v.says(".tour-card", "Step "+string(rune('1'+n))+" of 6")
		v.until(`document.activeElement.closest(".tour-card")`)
		switch n {
		case 4: // what it speaks of is in sight
			v.until(`((row, box) => row?.bottom < innerHeight - 18 && row.right <= box.right)(...[[...document.querySelectorAll(".measures tr")].find((r) => r.innerText.includes("2(N-1)")), document.querySelector(".measures .scroll")].map((e) => e?.getBoundingClientRect()))`)
		case 5:
			v.lab.verdict <- provedJSON
		}
		v.keys(kb.Enter)
	}
	v.says(".check-verdict", "Proved")
	if !strings.Contains(v.lab.last("check"), "ricart-agrawala") {
		v.t.Errorf("checked %s", v.lab.last("check"))
	}
}

func tourLeft(v *visit) {
	v.show("gallery")
	v.press("Take the tour")
	v.see(".tour-card")
	v.keys(kb.Enter)
	v.press("Back")
	v.says(".tour-card", "Step 1 of 6")
	v.until(`document.activeElement.matches(".tour-card .is-main")`)
	v.keys(kb.Enter + kb.Enter)
	v.says(".tour-card", "Step 3 of 6")
	v.keys(kb.Tab, kb.ModifierShift)
	for _, step := range []string{"2", "1", "1"} { // who goes back by keyboard stays on that button
		v.keys(kb.Enter)
		v.says(".tour-card", "Step "+step+" of 6")
		v.until(`document.activeElement.matches(".tour-card button") && document.activeElement.innerText == "Back"`)
	}
	v.keys(kb.Escape)
	v.until(`!document.querySelector(".tour-card") && localStorage.getItem("stile-tour")`)
}

func narrow(v *visit) {
	v.do(chromedp.EmulateViewport(400, 800))
	defer v.do(chromedp.EmulateReset())
	for _, name := range []string{"gallery", "fresh", "check", "compare", "export"} {
		v.show(name)
		v.until(`document.querySelector("dialog[open] button")`)
		if wide := eval[int](v.page, `Math.max(...[...document.querySelectorAll("dialog[open], dialog[open] button, dialog[open] input")].map(e => e.getBoundingClientRect().right))`); wide > 400 {
			v.t.Errorf("%s is %d pixels wide", name, wide)
		}
		v.shoot(filepath.Join(v.t.TempDir(), name+".png"))
		v.keys(kb.Escape)
		v.until(`!document.querySelector("dialog[open]")`)
	}
}

// A server that goes away in the middle of a check, which cannot be asked again.
func TestServerGoesAwayFromCheck(t *testing.T) {
	t.Parallel()
	d := newFakeLab(scenarioText)
	s := httptest.NewServer(labOf(t, d))
	defer s.Close()
	v := &visit{page: open(t, s.URL), lab: d}
	v.until(`document.querySelector("textarea")?.value.startsWith("title")`)
	v.show("check")
	v.press("Check")
	v.says("[data-number=states]", "12,345")
	s.CloseClientConnections()
	v.says(".check-standing .trouble", "connection to the lab was lost")
	d.verdict <- provedJSON
	v.press("Check again")
	v.says(".check-verdict", "Proved")
	v.alone = true
}
