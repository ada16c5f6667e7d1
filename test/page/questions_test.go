package page

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/algorithm/catalog"
)

// A newcomer's questions have answers on the page, for every sound lock: why does this
// process enter now, and why does the other one wait?
func TestQuestions(t *testing.T) {
	t.Parallel()
	run := func(name string) string {
		return fmt.Sprintf("title With %s\nalgorithm %s\nprocesses 4\nhold 9\nuntil 60\nat 0 P3 asks\nat 0 P2 asks\n", name, name)
	}
	v := &visit{page: show(t, run("central"))}
	v.clickOn(".measures .choice button", "^rules$")
	for _, s := range catalog.Sound() {
		v.trying = s.Name
		v.write(run(s.Name))
		v.until(fmt.Sprintf(`document.querySelector("h1").innerText == "With %s" && document.querySelector(".chips, header").innerText.includes(%q)`, s.Name, s.Name))
		eval[bool](v.page, `document.activeElement.blur(), true`)
		v.key(kb.Home)
		v.key("e")
		v.until(`[...document.querySelectorAll(".rules li.followed p")].some((p) => p.innerText.includes(" enters"))`)
		v.until(`document.querySelector(".why .reason")?.innerText.match(/^P\d waits/)`)
	}
}
