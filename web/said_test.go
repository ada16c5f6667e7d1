package web

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// What is said to who cannot see the page is the whole step, and nothing while steps
// come faster than they can be said.
func TestSaidByStep(t *testing.T) {
	t.Parallel()
	p := show(t, "title Said\nalgorithm ricart-agrawala\nprocesses 12\nat 1 P1 asks\nat 200 P2 asks\n")
	p.key(kb.ArrowRight)
	p.until(`/^P1 asks[.] (P1 sends REQUEST [(]time 1[)] to P\d+[.] ?){7} And 4 more[.]$/.test(document.querySelector("[role=log]").textContent)`)
	p.key("+ ")
	p.until(`document.querySelector("[aria-label=pause]") && document.querySelector("[role=log]").textContent == ""`)
	p.key(kb.Escape)
	p.until(`document.querySelector("[aria-label=play]") && document.querySelector("[role=log]").textContent != ""`)
}
