package page

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/stile-lock/stile/lab/web"
)

// Work is how many milliseconds the page's own thread has worked: all of it, and of that
// what it spent in scripts, and in styles and layout. That it waited for the next picture,
// or for a processor, does not count.
type work struct{ all, script, layout float64 }

// worked is the work so far.
func (p *page) worked() work {
	p.t.Helper()
	found, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	var w work
	for _, m := range found.Metrics {
		switch m.Name {
		case "TaskDuration":
			w.all = m.Value * 1000
		case "ScriptDuration":
			w.script = m.Value * 1000
		case "LayoutDuration", "RecalcStyleDuration":
			w.layout += m.Value * 1000
		}
	}
	return w
}

// done is the work of doing something.
func (p *page) done(deed string) work {
	p.t.Helper()
	before := p.worked()
	eval[bool](p, deed)
	now := p.worked()
	return work{now.all - before.all, now.script - before.script, now.layout - before.layout}
}

// watched is a page whose work is counted from now on.
func watched(t testing.TB, p *page) *page {
	t.Helper()
	if _, err := chromedp.Call(p.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		t.Fatal(err)
	}
	eval[bool](p, nothing)
	return p
}

// large opens a large run.
func large(t testing.TB) *page {
	t.Helper()
	p := show(t, hundred())
	p.until(`document.querySelector(".count").innerText.endsWith("of 50673")`)
	return watched(t, p)
}

// A tally is what was measured again and again, in milliseconds.
type tally []float64

const picture = 1000.0 / 60 // the milliseconds between two pictures

func (t *tally) add(ms float64) { *t = append(*t, ms) }

func (t tally) mean() float64 {
	sum := 0.0
	for _, ms := range t {
		sum += ms
	}
	return sum / float64(len(t))
}

// late is how many of a hundred took more than the time between two pictures.
func (t tally) late() float64 {
	n := 0
	for _, ms := range t {
		if ms > picture {
			n++
		}
	}
	return float64(100*n) / float64(len(t))
}

// report has a benchmark say what was measured in place of how long the benchmark itself
// took: the mean, what 19 of 20 are below, and the worst.
func (t tally) report(b *testing.B) {
	sorted := slices.Sorted(slices.Values(t))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(t.mean(), "mean-ms")
	b.ReportMetric(sorted[len(sorted)*19/20], "most-ms")
	b.ReportMetric(sorted[len(sorted)-1], "worst-ms")
}

// again does something again and again.
func (p *page) again(b *testing.B, deed string) {
	var all, script, layout tally
	for b.Loop() {
		w := p.done(deed)
		all.add(w.all)
		script.add(w.script)
		layout.add(w.layout)
	}
	all.report(b)
	b.ReportMetric(script.mean(), "script-ms")
	b.ReportMetric(layout.mean(), "layout-ms")
	b.ReportMetric(all.late(), "%late")
}

// nothing waits for two pictures.
const nothing = `0` + painted

// BenchmarkFrame is what two pictures cost in which nothing is new: of an empty page, and
// of a large run. All that is measured of a step or a scroll has that in it.
func BenchmarkFrame(b *testing.B) {
	b.Run("empty", func(b *testing.B) { watched(b, open(b, "about:blank")).again(b, nothing) })
	b.Run("large", func(b *testing.B) { large(b).again(b, nothing) })
}

// BenchmarkFirstStep opens a large run, each time in a window of its own, and takes one
// step: the page is to work less than 50 ms for it.
func BenchmarkFirstStep(b *testing.B) {
	var all tally
	for b.Loop() {
		if err := rehearse(b, web.Bundle, *longest, func(t testing.TB) { all.add(large(t).done(stepping).all) }); err != nil {
			b.Fatal(err)
		}
	}
	all.report(b)
}

// BenchmarkStep steps through a large run, from its beginning and from its middle: the
// page is to work less than 50 ms for each step.
func BenchmarkStep(b *testing.B) {
	p := large(b)
	eval[bool](p, stepping) // that is another benchmark
	b.Run("beginning", func(b *testing.B) { p.again(b, stepping) })
	eval[bool](p, `document.querySelector(".events .scroll").scrollTo(0, 24 * 25336), true`)
	p.until(`document.querySelector(".events [aria-posinset='25337']")`)
	eval[bool](p, `document.querySelector(".events [aria-posinset='25337'] button").click(), true`)
	p.until(`document.querySelector(".count").innerText.startsWith("25337 ") && document.querySelector(".dot")`)
	b.Run("middle", func(b *testing.B) { p.again(b, stepping) })
}

// BenchmarkScroll scrolls the diagram of a large run, by what a finger or a wheel does
// between two pictures: it is smooth if few of them are late.
func BenchmarkScroll(b *testing.B) { large(b).again(b, scrolling) }

// BenchmarkPaint opens a page: an empty one, and the lab, whose first paint is to come
// within 300 ms, and the picture of a run with it or soon after.
func BenchmarkPaint(b *testing.B) {
	b.Run("empty", func(b *testing.B) {
		url := serve(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html><title>empty</title><p>empty")
		}))
		paint(b, url, `true`)
	})
	b.Run("lab", func(b *testing.B) {
		paint(b, serve(b, labOf(b, &bench{start: example(b, "raymond-a")})), `document.querySelector(".dot")`)
	})
}

// paint opens an address again and again, each time until something is there.
func paint(b *testing.B, url, there string) {
	p := open(b, url)
	var first, run tally
	for b.Loop() {
		p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url))
		eval[bool](p, `new Promise((done) => { const look = () => `+there+` ? done(true) : requestAnimationFrame(look); look() })`)
		run.add(eval[float64](p, `performance.now()`))
		first.add(p.firstPaint())
	}
	first.report(b)
	b.ReportMetric(run.mean(), "run-ms")
}

// BenchmarkNewPaint opens the lab each time in a window that has nothing of it.
func BenchmarkNewPaint(b *testing.B) {
	var first tally
	for b.Loop() {
		if err := rehearse(b, web.Bundle, *longest, func(t testing.TB) { first.add(show(t, example(t, "raymond-a")).firstPaint()) }); err != nil {
			b.Fatal(err)
		}
	}
	first.report(b)
}

// firstPaint is when the page first showed something, in milliseconds since it was asked for.
func (p *page) firstPaint() float64 {
	p.t.Helper()
	return eval[float64](p, `new Promise((done) => new PerformanceObserver((l) => { for (const e of l.getEntries()) if (e.name == "first-contentful-paint") done(e.startTime) }).observe({type: "paint", buffered: true}))`)
}
