package page

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The tour says that arrow keys step, and they do, as all other keys do what they do.
func TestKeysInTour(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, example(t, "raymond-a"))}
	v.show("gallery")
	v.press("Take the tour")
	v.says(".tour-card", "Step 1 of 6")
	v.until(`document.querySelector("h1").innerText.startsWith("The bank") && document.querySelector(".event.current")`)
	v.keys(kb.Home) // the next stop goes to where it breaks
	v.until(`document.querySelector(".count").innerText.startsWith("0 of ")`)
	v.keys(kb.Enter)
	v.says(".tour-card", "with the arrow keys")
	v.until(`document.querySelector(".event.current")?.classList.contains("violation") && document.activeElement.closest(".tour-card")`)
	before := v.text(".count")
	v.keys(kb.ArrowLeft)
	v.until(`document.querySelector(".count").innerText != ` + quote(before))
	v.says(".tour-card", "Step 2 of 6")
	v.keys(kb.ArrowRight)
	v.page.at(before)
	v.keys("1") // a menu, which Escape closes before the tour
	v.see("[role=menu]")
	v.keys(kb.Escape)
	v.until(`!document.querySelector("[role=menu]")`)
	v.see(".tour-card")
	v.keys(kb.Escape)
	v.until(`!document.querySelector(".tour-card")`)
}

// The key that is said to choose an event chooses it, and Escape gives it up.
func TestKeyThatChooses(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	p.key(kb.ArrowRight + "c")
	p.see(".ring.picked")
	p.until(`document.querySelector(".card")?.innerText.includes("press c")`)
	p.key(kb.ArrowRight + "c")
	p.until(`document.querySelectorAll(".ring.picked").length == 2 && document.querySelector(".card .relate")`)
	p.key(kb.Escape)
	p.until(`!document.querySelector(".ring.picked") && !document.querySelector(".card")`)
}

// What has the focus has its keys: a menu, and a panel that is wider than it is shown.
func TestKeysOfFocused(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	p.key("1")
	p.see("[role=menu]")
	p.key("gnk")
	if eval[bool](p, `Boolean(document.querySelector("dialog[open]"))`) || !eval[bool](p, `Boolean(document.querySelector("[role=menu]"))`) {
		t.Error("keys go through a menu")
	}
	p.key(kb.Escape)
	p.until(`!document.querySelector("[role=menu]")`)

	p.do(chromedp.EmulateViewport(400, 800))
	p.until(`(e => e.scrollWidth > e.clientWidth + 10)(document.querySelector(".states .scroll"))`)
	p.do(chromedp.Focus(chromedp.CSS(".states .scroll")))
	p.key(kb.ArrowRight)
	p.until(`document.querySelector(".states .scroll").scrollLeft > 0`)
	p.at("0 of 39")
	p.do(chromedp.Focus(chromedp.CSS(".measures .scroll"))) // this one is not
	p.until(`(e => e.scrollWidth <= e.clientWidth)(document.querySelector(".measures .scroll"))`)
	p.key(kb.ArrowRight)
	p.at("1 of 39")
}
