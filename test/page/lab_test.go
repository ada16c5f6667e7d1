package page

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// fragment returns the part of an address that holds a scenario.
func fragment(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return "#s=" + base64.RawURLEncoding.EncodeToString(b.Bytes()) + "&c=0"
}

// show opens the lab with a scenario, and waits until it is shown.
func show(t testing.TB, text string) *page {
	t.Helper()
	p := open(t, labURL(t)+"/"+fragment(t, text))
	p.ran()
	return p
}

// ran waits until something has run.
func (p *page) ran() {
	p.t.Helper()
	p.until(`document.querySelector("h1").innerText && document.querySelector(".count").innerText.match(/of [1-9]/)`)
}

// at waits for the cursor to be there.
func (p *page) at(cursor string) {
	p.t.Helper()
	p.until(`document.querySelector(".count").innerText == ` + quote(cursor))
}

// steps goes on by some steps.
func (p *page) steps(n int) {
	p.t.Helper()
	for range n {
		p.key(kb.ArrowRight)
	}
}

// holds waits until the editor has a text.
func (p *page) holds(text string) {
	p.t.Helper()
	p.until(`document.querySelector("textarea").value == ` + quote(text))
}

// written waits until the editor's text contains some words, and has run.
func (p *page) written(words string) {
	p.t.Helper()
	p.until(`document.querySelector("textarea").value.includes(` + quote(words) + `)`)
	p.settled()
}

// typing brings the focus to the editor.
func (p *page) typing() {
	p.t.Helper()
	p.blur()
	p.key("l")
	p.until(`document.activeElement.matches("textarea")`)
}

// write replaces the editor's text.
func (p *page) write(text string) {
	p.t.Helper()
	p.typing()
	p.fill(text)
	p.key(kb.Escape)
	p.holds(text)
	p.settled()
}

// settled waits until what is shown belongs to the text.
func (p *page) settled() {
	p.t.Helper()
	p.until(`document.querySelector("main[aria-busy=false]")`)
}

// caret puts the caret at the end of a line of the text.
func (p *page) caret(line int) {
	p.t.Helper()
	p.typing()
	p.key(kb.Home, kb.ModifierCtrl)
	for range line - 1 {
		p.key(kb.ArrowDown)
	}
	p.key(kb.End)
}

// dialog opens a dialog of the lab by its button in the head.
func (p *page) dialog(name string) {
	p.t.Helper()
	p.clickOn("nav button", map[string]string{"gallery": "Gallery", "fresh": "New", "check": "Check every", "compare": "Compare", "export": "Share"}[name])
	p.sees("dialog.panel-" + name)
}

// leave closes what is open.
func (p *page) leave() {
	p.t.Helper()
	p.key(kb.Escape)
	p.gone("dialog[open]")
}

// process waits until a process has a status.
func (p *page) process(number int, status string) {
	p.t.Helper()
	p.sees(fmt.Sprintf(".process[data-proc='%d'].is-%s", number-1, status))
}

// catching has the page hand over what it would copy, or save as a file, by the ending of its
// name: a browser without a head asks nobody where to.
func (p *page) catching() {
	p.t.Helper()
	eval[bool](p, `window.saved = {}, URL.createObjectURL = ((real) => (blob) => real.call(URL, window.blob = blob))(URL.createObjectURL), HTMLAnchorElement.prototype.click = function () { saved[this.download.replace(/.*\./, "")] = blob }, navigator.clipboard.writeText = async (text) => { window.copied = text }, true`)
}
