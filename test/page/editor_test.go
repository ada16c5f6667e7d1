package page

import (
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// caret puts the caret at the end of a line of the text, by keys alone.
func (v *visit) caret(line int) {
	v.t.Helper()
	v.click("textarea")
	v.keys(kb.Home, kb.ModifierCtrl)
	for range line - 1 {
		v.keys(kb.ArrowDown)
	}
	v.keys(kb.End)
}

func typing(v *visit) {
	v.caret(6)
	v.keys(kb.Enter)
	v.keys("at 3 P1 asks")
	v.until(`document.querySelectorAll(".editor-gutter button:enabled").length == 3`)
	v.keys("z", kb.ModifierCtrl) // what was typed at a stretch is one change
	v.holds(scenarioText)
	v.keys("y", kb.ModifierCtrl)
	v.holds(strings.Replace(scenarioText, "P2 asks\n", "P2 asks\nat 3 P1 asks\n", 1))
}

func errorAtLine(v *visit) {
	v.caret(4)
	v.keys("bogus")
	v.says("#editor-fault", "Line 4, column 1")
	v.says("#editor-fault", "bogus")
	v.until(`document.querySelector(".editor-line.is-fault")?.innerText.startsWith("bogus")`)
	v.until(`document.querySelector("textarea").getAttribute("aria-invalid") == "true"`)
	v.until(`document.title.includes("Two ask")`) // the last good picture
	for range "bogus" {
		v.keys(kb.Backspace)
	}
	v.until(`!document.querySelector(".editor-line.is-fault") && document.querySelector("#editor-fault").innerText == ""`)
}

func expectations(v *visit) {
	v.until(`document.querySelectorAll(".editor-line .is-met").length == 1`)
	v.says(".editor-line .is-unmet", "1 2")
	v.press("Line 8")
	v.until(`document.activeElement.tagName == "TEXTAREA" && document.activeElement.value.slice(0, document.activeElement.selectionStart).split("\n").length == 8`)
}

func lineSeeks(v *visit) {
	v.click(".editor-gutter button:nth-child(6)")
	v.until(`document.querySelector(".editor-line.is-present")?.innerText.startsWith("at 2 P2 asks")`)
	v.caret(5)
	v.keys(kb.Enter, kb.ModifierCtrl)
	v.until(`document.querySelector(".editor-line.is-present")?.innerText.startsWith("at 1 P1 asks")`)
	v.keys(kb.Escape)
	v.until(`document.activeElement.tagName != "TEXTAREA"`)
}

func undoes(v *visit) {
	v.show("gallery")
	v.press("The bank that loses")
	v.until(`document.querySelector("textarea").value.includes("title The bank")`)
	v.press("Undo")
	v.holds(scenarioText)
	v.press("Redo")
	v.until(`document.querySelector("textarea").value.includes("title The bank")`)
}

func branches(v *visit) {
	v.press("Branch")
	v.caret(3)
	v.keys("2")
	v.until(`document.querySelector("textarea").value.includes("processes 22")`)
	v.press("main")
	v.holds(scenarioText)
	v.press("branch 1")
	v.until(`document.querySelector("textarea").value.includes("processes 22")`)
}

func address(v *visit) {
	v.click(".editor-gutter button:nth-child(6)")
	v.until(`/#s=[\w-]+&c=[1-9]\d*$/.test(location.href)`)
	here := eval[string](v.page, `location.href`)
	v.lab.start = "algorithm central\nprocesses 3\n"
	v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(here))
	v.until(`document.querySelector("textarea")`)
	v.holds(scenarioText)
	v.until(`document.querySelector(".editor-line.is-present")?.innerText.startsWith("at 2 P2 asks")`)
}

func brokenAddress(v *visit) {
	for _, broken := range []string{"#s=AAAA&c=1", "#s=%%%", "#s=äöü", "#s=q1bKTS1OTizIAQ", "#c=3&s="} {
		v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(v.url+"/"+broken))
		v.see("dialog.panel-gallery")
		v.says("dialog.panel-gallery .messages", "The address that you opened is damaged")
	}
	v.keys(kb.Escape)
	v.holds(scenarioText) // and not an empty page
}

func longText(v *visit) {
	text := scenarioText
	for i := range 3000 {
		text += fmt.Sprintf("# %x\n", uint64(i)*0x9E3779B97F4A7C15)
	}
	v.at(text)
	v.until(`document.querySelector("textarea").value.length > 50000`)
	if n := eval[int](v.page, `document.querySelectorAll(".editor-line").length`); n > 200 {
		v.t.Errorf("%d lines are painted", n)
	}
	v.show("export")
	v.press("Copy Address")
	v.until(`document.body.innerText.includes("too long for an address")`)
}
