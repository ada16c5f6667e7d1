package web

import (
	"fmt"
	"strings"
	"testing"
)

// hundred is a run of 100 processes and some 50,000 events.
func hundred() string {
	var b strings.Builder
	b.WriteString("title A hundred\nalgorithm ricart-agrawala\nprocesses 100\n")
	for i := range 127 {
		fmt.Fprintf(&b, "at %d P%d asks\n", 4*i, i*37%100+1)
	}
	return b.String()
}

// stepping steps once and says how long it took until it was painted.
const stepping = `new Promise((done) => {
	const from = performance.now();
	dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
	requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => done(performance.now() - from); c.port2.postMessage(0); });
})`

// Of a large run only what is in sight is in the page.
func TestOnlyWhatIsInSight(t *testing.T) {
	p := show(t, hundred())
	p.until(`document.querySelector(".count").innerText.endsWith("of 50673")`)
	for _, part := range []string{"0", "0.5", "1"} {
		eval[bool](p, fmt.Sprintf(`(m => { const b = m.getBoundingClientRect(), at = {bubbles: true, buttons: 1, pointerId: 1, clientX: b.left + b.width * %s, clientY: b.top + 9}; m.setPointerCapture = () => {}; m.dispatchEvent(new PointerEvent("pointerdown", at)); return true })(document.querySelector(".minimap"))`, part))
		p.until(`document.querySelector(".dot")`)
		if n := eval[int](p, `document.querySelectorAll("*").length`); n > 12_000 {
			t.Errorf("at %s of the run the page has %d elements", part, n)
		}
	}
}

// BenchmarkStep steps through a large run: each is to be painted within 50 ms.
func BenchmarkStep(b *testing.B) {
	p := show(b, hundred())
	p.until(`document.querySelector(".count").innerText.endsWith("of 50673")`)
	worst := 0.0
	for b.Loop() {
		worst = max(worst, eval[float64](p, stepping))
	}
	b.ReportMetric(worst, "worst-ms")
}
