package page

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

// A button that is of no use any more keeps the focus of who came to it by keyboard, until
// they leave it, and does nothing.
func TestFocusStaysOnIdleButton(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, draftText)}
	v.key(kb.ArrowRight)
	v.do(chromedp.Focus(chromedp.CSS(`[aria-label="step back"]`)))
	v.key(kb.Enter)
	v.until(`document.querySelector(".count").innerText.startsWith("0 ")`)
	eval[bool](v.page, nothing)
	v.until(`document.activeElement.matches("[aria-label='step back'][aria-disabled=true]")`)
	v.key(kb.Enter + kb.ArrowRight)
	v.until(`document.querySelector("[aria-label='step back']:focus:not([aria-disabled])")`)
	v.key(kb.ArrowLeft + kb.Tab)
	v.until(`document.querySelector("[aria-label='step back']:disabled") && document.activeElement.matches("[aria-label=play]")`)
}

// When a message has arrived, by its own menu, the focus is on who has it.
func TestFocusFollowsMessage(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, "title Letters\nalgorithm ricart-agrawala\nprocesses 3\nat 0 P1 asks\n")}
	v.key(kb.ArrowRight)
	v.do(chromedp.Focus(chromedp.CSS(`.letter[data-msg="1"]`)))
	v.key(kb.Enter)
	v.see("[role=menu]")
	v.key("d")
	v.written("deliver 1 -> 2 REQUEST")
	v.until(`document.querySelector("main[aria-busy=false]")`)
	eval[bool](v.page, nothing)
	v.until(`document.activeElement.dataset.proc == "1"`)
}
