package page

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var bookShots = flag.String("book-shots", "", "folder that pictures of the book are written into")

// book builds the book, and returns where it is served.
func book(t *testing.T) string {
	t.Helper()
	browser(t) // without one nothing is to be built
	dir := t.TempDir()
	c := exec.Command("go", "run", "./book", "..", filepath.Join(dir, "book"))
	c.Dir = "../../tools"
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("the book cannot be built: %v\n%s", err, out)
	}
	return serve(t, http.FileServer(http.Dir(dir))) + "/book/"
}

// wider lists what makes a page wider than its window, and pictures that are not there.
const wider = `[...document.querySelectorAll("body *")].filter((e) =>
	e.tagName == "IMG" && !(e.complete && e.naturalWidth) ||
	document.scrollingElement.scrollWidth > innerWidth && !e.closest(".scroll, pre, .skip") && e.getBoundingClientRect().right > innerWidth + 1
).map((e) => e.tagName + " " + (e.src ?? e.textContent.slice(0, 40)))`

// legible is the contrast of the words of a page of the book.
var legible = strings.ReplaceAll(contrast, "#app *", "body *")

// Every page of the book fits into a narrow window and into a wide one, in light and dark,
// with words that stand out from what is behind them.
func TestBookFits(t *testing.T) {
	t.Parallel()
	url := book(t)
	p := open(t, url+"index.html")
	pages := eval[[]string](p, `[...document.querySelectorAll("#contents a")].map((a) => a.href)`)
	if len(pages) < 60 {
		t.Fatalf("only %d pages in the navigation", len(pages))
	}
	pages = append(pages, url+"source/scenarios/maekawa-three.stile.html", url+"source/scenarios/index.html")
	for i, page := range pages {
		p.trying = page
		p.media("prefers-color-scheme", []string{"light", "dark"}[i/9%2])
		p.do(chromedp.EmulateViewport(400, 800), chromedp.Navigate(page))
		for _, width := range []int64{400, 1280} {
			p.do(chromedp.EmulateViewport(width, 800))
			if got := eval[[]string](p, wider); len(got) > 0 {
				t.Errorf("%s, %d wide: too wide or missing: %q", page, width, got[:min(5, len(got))])
			}
		}
		if i%9 > 0 {
			continue // all pages have one style sheet
		}
		if pale := eval[[]string](p, legible); len(pale) > 0 {
			t.Errorf("%s: hardly legible: %q", page, pale[:min(5, len(pale))])
		}
	}
	// What the expression looks for, it finds.
	eval[bool](p, `document.querySelector("main").style.setProperty("color", "var(--line)") ?? true`)
	if pale := eval[[]string](p, legible); len(pale) == 0 {
		t.Error("pale words are not found")
	}
	eval[bool](p, `document.querySelector("main").insertAdjacentHTML("beforeend", "<p style='width: 3000px; max-width: none'>wide</p><img src='data:image/png,none'>") ?? true`)
	if got := strings.Join(eval[[]string](p, wider), "\n"); !strings.Contains(got, "P wide") || !strings.Contains(got, "data:image/png,none") {
		t.Errorf("a planted wide paragraph and a missing picture: found %q", got)
	}
}

// TestBookShots makes pictures of the book, to be looked at.
func TestBookShots(t *testing.T) {
	if *bookShots == "" {
		t.Skip("-book-shots DIR writes them")
	}
	url := book(t)
	p := open(t, url+"index.html")
	for _, name := range []string{"index", "algorithms/index", "algorithms/maekawa", "operating", "claims", "results/proofs", "source/doc.go", "source/scenarios/maekawa-three.stile"} {
		for _, width := range []int64{400, 1280} {
			for _, theme := range []string{"light", "dark"} {
				p.media("prefers-color-scheme", theme)
				p.do(chromedp.EmulateViewport(width, 1600), chromedp.Navigate(url+name+".html"))
				data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
				if err != nil {
					t.Fatal(err)
				}
				file := fmt.Sprintf("%s-%d-%s.png", strings.ReplaceAll(name, "/", "-"), width, theme)
				if err := os.WriteFile(filepath.Join(*bookShots, file), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
