package page

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Every control is reached by Tab alone, and is seen to have the focus.
func TestTabReachesAll(t *testing.T) {
	t.Parallel()
	tabReachesAll(t)
}

func tabReachesAll(t testing.TB) {
	p := show(t, example(t, "raymond-a"))
	p.key(kb.ArrowRight + kb.ArrowRight)
	p.see(".letter[tabindex]")
	eval[bool](p, `document.querySelectorAll("button, select, textarea, a[href], [role=button], [role=slider], .plot, .scroll").forEach((e, i) => { if (!e.disabled && e.checkVisibility() && !e.closest(".events li, .editor-gutter")) e.dataset.wanted = i }), true`)
	for range 80 {
		p.key(kb.Tab)
		bad := eval[string](p, `(() => {
			const e = document.activeElement;
			if (e === document.body) return "";
			delete e.dataset.wanted;
			const seen = [e, ...e.children, e.closest(".editor-scroll")].some((x) => x && (getComputedStyle(x).outlineStyle !== "none" && parseFloat(getComputedStyle(x).outlineWidth) >= 1));
			return seen ? "" : e.tagName + "." + (e.getAttribute("class") ?? "");
		})()`)
		if bad != "" {
			t.Errorf("%s does not show that it has the focus", bad)
		}
	}
	if left := eval[[]string](p, `[...document.querySelectorAll("[data-wanted]")].map((e) => e.tagName + " " + (e.getAttribute("aria-label") ?? e.textContent).slice(0, 40))`); len(left) > 0 {
		t.Errorf("never reached: %q", left)
	}
}

// A message is chosen among others by keys alone; so is a group that is cut off.
func TestChosenByKeys(t *testing.T) {
	t.Parallel()
	p := show(t, "title By hand\nalgorithm ricart-agrawala\nprocesses 4\nhold 5\nat 0 P1 asks\n")
	p.key(kb.ArrowRight)
	p.key("m")
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("P1 → P2")`)
	p.key(kb.ArrowRight)
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("P1 → P3")`)
	p.key(kb.ArrowRight + kb.ArrowLeft)
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("P1 → P3")`)
	p.key("x")
	p.until(`document.querySelector("textarea").value.includes("drop 1 -> 3")`)
	p.key("2+")
	p.until(`document.querySelectorAll(".process .chosen").length == 1`)
	p.do(chromedp.Focus(chromedp.CSS(`.process[data-proc="3"]`)), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift)))
	p.until(`document.querySelectorAll(".process .chosen").length == 2`)
	p.key("1")
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("cut off P2, P4 together")`)
	p.key("x")
	p.until(`/partition/.test(document.querySelector("textarea").value) && document.querySelectorAll(".process .chosen").length == 0`)
	p.key("1h")
	p.until(`/heal/.test(document.querySelector("textarea").value)`)
}

// The list of events is walked through by keys.
func TestEventsByKeys(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	p.do(chromedp.Focus(chromedp.CSS(".events .scroll")))
	p.key(kb.ArrowDown + kb.ArrowDown + kb.ArrowDown + kb.ArrowUp)
	p.at("2 of 39")
}
