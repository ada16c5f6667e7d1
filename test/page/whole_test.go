package page

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// cutOff is what of the picture of a group reaches beyond it, and is cut off there.
const cutOff = `(() => {
	const box = document.querySelector(".picture").getBoundingClientRect();
	const all = [...document.querySelectorAll(".picture .process, .picture .cell, .picture .letter, .picture .pill, .picture .lock")];
	return all.filter((e) => {
		const r = e.getBoundingClientRect();
		return r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1;
	}).map((e) => e.getAttribute("class") + " " + e.textContent.slice(0, 40)).join("; ");
})()`

// Nothing of a group is cut off at the edges of its picture, wherever messages are.
func TestNothingIsCutOff(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"grid of 4":  "algorithm maekawa\nprocesses 4\nhold 2\nat 0 P1 asks\nat 0.5 P4 asks\n",
		"grid of 9":  "algorithm maekawa\nprocesses 9\nhold 2\nat 0 P1 asks\nat 0.5 P5 asks\nat 0.7 P9 asks\n",
		"grid of 36": "algorithm maekawa\nprocesses 36\nhold 2\nat 0 P1 asks\nat 0.5 P15 asks\nat 0.7 P36 asks\n",
		"tree":       example(t, "raymond-a"),
		"star":       example(t, "central-queue"),
		"tickets":    example(t, "bakery-order"),
		"sites":      example(t, "none-ring"),
		"graph":      example(t, "graph-deadlock"),
		"hundred":    "algorithm ricart-agrawala\nprocesses 100\nat 0 P1 asks\nat 0.5 P7 asks\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := show(t, text)
			p.media("prefers-reduced-motion", "reduce")
			for range 12 {
				p.key(kb.ArrowRight)
				p.until(cutOff + ` == ""`) // what waits is said beside it, and it makes room for that
			}
		})
	}
}
