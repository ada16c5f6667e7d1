package web

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A dialog gives the focus back to where it was: to a process in the picture too, and
// also if another dialog was opened out of it.
func TestFocusComesBack(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, example(t, "raymond-a"))}
	v.do(chromedp.Focus(chromedp.CSS(`.process[data-proc="2"]`)))
	v.key("g")
	v.see("dialog.panel-gallery")
	v.key(kb.Escape)
	v.until(`!document.querySelector("dialog[open]") && document.activeElement.dataset.proc == "2"`)
	v.key("g")
	v.press("New scenario")
	v.see("dialog.panel-fresh select")
	v.key(kb.Escape)
	v.until(`!document.querySelector("dialog[open]") && document.activeElement.dataset.proc == "2"`)
}
