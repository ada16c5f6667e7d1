package page

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Many branches have room on a narrow page, and can be closed: who was in one is then
// in the one before it.
func TestBranchesClose(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, draftText)}
	for range 9 {
		v.press("Branch")
	}
	v.until(`document.querySelectorAll(".branches [aria-pressed]").length == 10`)
	v.do(chromedp.EmulateViewport(400, 800))
	v.until(`Math.max(...[...document.querySelectorAll(".branches button")].map((b) => b.getBoundingClientRect().right)) <= 400`)
	v.do(chromedp.EmulateViewport(1280, 800))
	present := func(name string, n int) {
		t.Helper()
		v.until(`document.querySelector(".branches [aria-pressed=true]")?.innerText == ` + quote(name) + ` && document.querySelectorAll(".branches [aria-pressed]").length == ` + string(rune('0'+n)))
	}
	v.write(draftText + "# nine\n")
	v.press("close branch 9")
	present("branch 8", 9)
	v.holds(draftText)
	v.write(draftText + "# eight\n")
	v.press("close branch 2") // another one than the present
	present("branch 8", 8)
	v.holds(draftText + "# eight\n")
	v.press("Branch")
	present("branch 10", 9)
	v.press("main")
	v.holds(draftText)
	if n := eval[int](v.page, `document.querySelectorAll("[aria-label='close main']").length`); n > 0 {
		t.Error("the first branch can be closed")
	}
}
