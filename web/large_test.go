package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
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

// stepping steps once and waits until it was painted.
const stepping = `new Promise((done) => {
	dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
	requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
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

// worked is how many milliseconds the page has worked so far: all of it, and scripts,
// styles and layout alone. That it waited for the next picture does not count.
func (p *page) worked() (all, script float64) {
	p.t.Helper()
	found, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range found.Metrics {
		switch m.Name {
		case "TaskDuration":
			all = m.Value * 1000
		case "ScriptDuration", "LayoutDuration", "RecalcStyleDuration":
			script += m.Value * 1000
		}
	}
	return all, script
}

// BenchmarkStep steps through a large run: the page is to work less than 50 ms for
// each.
func BenchmarkStep(b *testing.B) {
	p := show(b, hundred())
	p.until(`document.querySelector(".count").innerText.endsWith("of 50673")`)
	if _, err := chromedp.Call(p.ctx, performance.Enable, performance.EnableParams{}); err != nil {
		b.Fatal(err)
	}
	all, script, worst := 0.0, 0.0, 0.0
	for b.Loop() {
		all1, script1 := p.worked()
		eval[bool](p, stepping)
		all2, script2 := p.worked()
		all, script, worst = all+all2-all1, script+script2-script1, max(worst, script2-script1)
	}
	b.ReportMetric(all/float64(b.N), "with-paint-ms/op")
	b.ReportMetric(script/float64(b.N), "script+layout-ms/op")
	b.ReportMetric(worst, "worst-script+layout-ms")
}

// BenchmarkPage opens the page: its first paint is to come within 300 ms, and the
// picture of a run with it or soon after.
func BenchmarkPage(b *testing.B) {
	p := show(b, example(b, "raymond-a"))
	url := eval[string](p, `location.origin`)
	sum, worst, whole := 0.0, 0.0, 0.0
	for b.Loop() {
		p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url))
		p.until(`document.querySelector(".dot")`)
		whole += eval[float64](p, `performance.now()`)
		first := eval[float64](p, `new Promise((done) => new PerformanceObserver((l) => done(l.getEntries()[0].startTime)).observe({type: "paint", buffered: true}))`)
		sum, worst = sum+first, max(worst, first)
	}
	b.ReportMetric(sum/float64(b.N), "paint-ms/op")
	b.ReportMetric(worst, "worst-paint-ms")
	b.ReportMetric(whole/float64(b.N), "run-ms/op")
}
