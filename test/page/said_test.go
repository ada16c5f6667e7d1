package page

import (
	"strings"
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

// Who waits has a halo and a sentence, also if it is inside another section, or stands
// still.
func TestWaitersSeen(t *testing.T) {
	t.Parallel()
	p := show(t, "title Waiters\nalgorithm central\nprocesses 3\nsection seats among 1,2,3\nsection films among 1,2,3\nhold manual\nat 0 P1 asks seats\nat 0 P2 asks films\nat 3 P1 asks films\nat 6 P3 asks seats\nat 9 pause P3\n")
	p.key(kb.End)
	p.until(`document.querySelector(".process.is-inside[data-proc='0'] .halo") && document.querySelector(".process.is-paused[data-proc='2'] .halo") && !document.querySelector("[data-proc='1'] .halo")`)
	if got := p.text(".why"); !strings.Contains(got, "P1 films: waits for GRANT from itself; P1 is number 1 in the queue at P1; P1 queues P1, because it has granted P2") || !strings.Contains(got, "P3 is paused; seats: waits for GRANT") {
		t.Errorf("it is said: %q", got)
	}
}
