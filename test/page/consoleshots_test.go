package page

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var consoleShots = flag.String("console-shots", "", "folder that pictures of the console are written into")

// TestConsoleShots makes pictures of the console in several sizes, to be looked at.
func TestConsoleShots(t *testing.T) {
	if *consoleShots == "" {
		t.Skip("-console-shots DIR writes them")
	}
	f := newFakeNode(t)
	f.full()
	p := open(t, "about:blank")
	lock := "#lock/orders%2F2026%2F00034"
	for _, c := range []struct {
		name, hash, ready string
		pose              func()
	}{
		{"overview", "#overview", ".members", func() {
			f.overTime(nowMS())
			p.until(`/4\d s ago/.test(document.querySelector(".victims")?.innerText)`) // the clock of the page has followed
		}},
		{"locks", "#locks", ".list", nil},
		{"lock", lock, ".plot-things", nil},
		{"graph", "#graph", ".vertex", nil},
		{"elections", "#elections", ".list", nil},
		{"evict", "#overview", ".members", func() { p.click(".members tr:nth-child(2) .breaks") }},
		{"choose", "#overview", ".members", func() { p.click(".members-part h2 .small") }},
		{"release", lock, ".holder", func() { p.click(".lock-head .breaks") }},
		{"delegated", lock, ".holder", func() {
			f.change("lock "+lockName, object{"holders": object{"14.941": object{"delegated": true}}})
			p.see(".holder .delegated")
		}},
		{"help", lock, ".holder", func() { p.key("?") }},
		{"gone", "#overview", ".members", func() {
			p.alone = true
			f.set(func() {
				f.hello["nodes"] = []object{{"name": "b", "http": "http://10.0.0.6:7421"}, {"name": "c", "http": "http://10.0.0.7:7421"}}
			})
			p.do(chromedp.Reload())
			p.see(".members")
			f.goes(502)
			p.see(".gone")
		}},
		{"token", "#overview", ".identify", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.goes(0)
			if c.name == "token" {
				f.set(func() { f.token = "x" })
			}
			for _, size := range [][2]int64{{1440, 900}, {1280, 800}, {400, 860}} {
				for _, theme := range []string{"light", "dark"} {
					p.do(chromedp.EmulateViewport(size[0], size[1]))
					p.media("prefers-color-scheme", theme)
					p.do(chromedp.Navigate("about:blank"))
					f.full() // the clock of a page does not go back to where the one before began
					p.do(chromedp.Navigate(f.url + c.hash))
					p.see(c.ready)
					if c.pose != nil {
						c.pose()
					}
					p.until(`document.getAnimations().every((a) => a.playState != "running")`)
					shot := chromedp.CaptureScreenshot()
					if c.name == "overview" || size[0] < 1000 && c.name != "locks" && c.pose == nil {
						shot = chromedp.FullScreenshot(100)
					}
					data, err := chromedp.Run(p.ctx, shot)
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(*consoleShots, fmt.Sprintf("%s-%d-%s.png", c.name, size[0], theme)), data, 0o644); err != nil {
						t.Fatal(err)
					}
					f.goes(0)
				}
			}
		})
	}
	p.complaints() // of refused requests, which were wanted
}
