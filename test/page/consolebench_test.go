package page

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// What the crowd of a cluster is: held locks, requests that wait for the first of them, and
// requests of which each waits for another one.
const (
	crowdLocks   = 10_000
	crowdWaiters = 1_000
	crowdOthers  = 500
	crowdClients = 9
)

// crowdLock is the name of a lock of the crowd.
func crowdLock(i int) string { return fmt.Sprintf("orders/2026/%05d", i) }

// fill has clients of three real nodes hold the locks of a crowd and wait for some of them.
// Until the benchmark ends, one client of each node acquires and releases others.
func (l *live) fill() {
	l.t.Helper()
	var all []*stile.Client
	for i := range crowdClients {
		all = append(all, l.dial(i%len(l.nodes)))
	}
	acquires(l.t, all, crowdLocks, crowdLock)
	for i := range crowdWaiters {
		l.wait(all[i%len(all)], crowdLock(0))
	}
	for i := range crowdOthers {
		l.wait(all[i%len(all)], crowdLock(1+i))
	}
	for i := range l.nodes {
		go contend(l.t.Context(), l.dial(i), fmt.Sprintf("busy/%d", i%2))
	}
}

// worked is the processor time of the nodes so far, in milliseconds; 0 if the system does not
// tell.
func (l *live) worked() (ms float64) {
	for _, c := range l.nodes {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		if err != nil {
			return 0
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		for _, field := range strings.Fields(rest)[11:13] { // user and system time, in hundredths of a second
			n, err := strconv.Atoi(field)
			if err != nil {
				return 0
			}
			ms += float64(10 * n)
		}
	}
	return ms
}

// aboutCrowd are the pages of the console about a crowd: what is there once they show it, and
// what is scrolled.
var aboutCrowd = []struct{ name, hash, there, scrolled string }{
	{"overview", "#overview", `document.querySelectorAll("table.members tbody tr").length == 3`, `document.scrollingElement`},
	{"locks", "#locks?prefix=orders%2F", `document.querySelectorAll(".list tbody tr").length == 100`, `document.scrollingElement`},
	{"waits", "#locks?sort=wait", `document.querySelectorAll(".list tbody tr").length == 100`, `document.scrollingElement`},
	{"lock", "#lock/orders%2F2026%2F00000", `document.querySelectorAll(".queue li").length > 0`, `document.querySelector(".queue")`},
	{"graph", "#graph", `document.querySelectorAll(".waits-part [data-row]").length > 0`, `document.scrollingElement`},
}

// BenchmarkConsole opens the pages of the console of a cluster of three real nodes with 10,000
// locks and 1,500 requests that wait: when it is first painted, when it shows the cluster, what
// it costs to stay open, and what it costs to scroll.
func BenchmarkConsole(b *testing.B) {
	l := newLive(b, "naimi-trehel")
	l.fill()
	ready := open(b, l.console(0, aboutCrowd[3].hash))
	ready.until(`document.querySelector(".queue-part h2")?.innerText.includes("1,000 requests")`)
	b.Run("nothing", func(b *testing.B) {
		ready.goes("about:blank")
		<-time.After(6 * time.Second) // a node goes on for 5 s after the last page
		stay(b, l, nil)
	})
	for _, c := range aboutCrowd {
		url := l.console(0, c.hash)
		b.Run("paint/"+c.name, func(b *testing.B) { paint(b, url, c.there) })
		b.Run("stay/"+c.name, func(b *testing.B) {
			p := watched(b, open(b, url))
			p.until(c.there)
			stay(b, l, p)
		})
		b.Run("scroll/"+c.name, func(b *testing.B) {
			p := watched(b, open(b, url))
			p.until(c.there)
			p.again(b, fmt.Sprintf(`(e => e.scrollTop = e.scrollTop + e.clientHeight + 120 < e.scrollHeight ? e.scrollTop + 120 : 0)(%s)`, c.scrolled)+painted)
		})
	}
}

// stay has a page open for some seconds. It reports for each second how long the page and the
// nodes have worked, and the longest of the tasks for which the page could not answer.
func stay(b *testing.B, l *live, p *page) {
	var page, nodes, longest float64
	n := 0
	for b.Loop() {
		began, before := time.Now(), l.worked()
		var was work
		if p != nil {
			was = p.worked()
			longest = max(longest, eval[float64](p, `new Promise((done) => { let most = 0; const o = new PerformanceObserver((l) => { for (const e of l.getEntries()) most = Math.max(most, e.duration) }); o.observe({type: "longtask"}); setTimeout(() => { o.disconnect(); done(most) }, 2000) })`))
			page += (p.worked().all - was.all) / time.Since(began).Seconds()
		} else {
			<-time.After(2 * time.Second)
		}
		nodes += (l.worked() - before) / time.Since(began).Seconds()
		n++
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(page/float64(n), "page-ms/s")
	b.ReportMetric(nodes/float64(n), "nodes-ms/s")
	b.ReportMetric(longest, "longest-ms")
}
