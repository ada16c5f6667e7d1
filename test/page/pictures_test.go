package page

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile"
)

var (
	shots    = flag.String("shots", "", "folder that the pictures of the documentation are written into")
	skeleton = flag.Bool("skeleton", false, "write into lab/web/src/index.html what the page shows first")
)

// TestShots makes the pictures of the documentation: 'make screenshots'.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("make screenshots makes them")
	}
	needsBrowser(t)
	p := window(t)
	for _, c := range []struct {
		name, example, scheme string
		pose                  func()
	}{
		{"lab-raymond", "raymond-a", "light", func() { // a click has just made a line
			p.key("ee")
			p.process(5, "inside")
			p.key("5l")
			p.sees(".editor-line.is-newest")
		}},
		{"lab-bank", "", "light", func() { p.key("v"); p.sees(".plot-words .on-violation") }},
		{"lab-check", "", "light", func() { p.key("k"); p.press("Check"); p.sees(".check-verdict") }},
		{"lab-compare", "raymond-a", "light", func() { p.dialog("compare"); p.press("Compare"); p.sees(".compare-cell.is-best") }},
		{"lab-sites", "none-ring", "dark", func() {
			for !eval[bool](p, `Boolean(document.querySelector(".wait.cycle"))`) {
				p.key(kb.ArrowRight)
			}
		}},
	} {
		p.size(1360, 850)
		p.media("prefers-color-scheme", c.scheme)
		if c.example != "" {
			p.goes(labURL(t) + "/" + fragment(t, example(t, c.example)))
		} else {
			p.goes(labURL(t))
			p.press("The bank that loses")
			p.gone("dialog[open]")
		}
		p.ran()
		c.pose()
		p.print(c.name)
	}
	consoleShots(t, p)
}

// consoleShots makes the pictures of a cluster with work, a deadlock, and a member that has
// stopped.
func consoleShots(t *testing.T, p *page) {
	l := prepared(t, "raymond,accounts/=kept:none")
	l.first = append(l.first, "--lease", "1m") // so that the member that has stopped is not evicted at once
	l.startAll()
	l.lock(l.dial(0, "worker-1"), "orders/2026/00034")
	for i, label := range []string{"worker-2", "worker-3", "nightly", "mailer"} {
		l.wait(l.dial(i%3, label), "orders/2026/00034")
	}
	var all []*stile.Tx
	for i, label := range []string{"transfer", "audit", "interest"} {
		all = append(all, l.begin(i, label))
		if _, err := all[i].Lock(t.Context(), "accounts/"+string(rune('1'+i))); err != nil {
			t.Fatal(err)
		}
	}
	for i, tx := range all {
		go func() { _, _ = tx.Lock(t.Context(), "accounts/"+string(rune('1'+(i+1)%3))) }()
	}
	p.media("prefers-color-scheme", "light")
	p.size(1280, 800)
	p.goes(l.console(0, "#graph"))
	p.until(`document.querySelectorAll(".vertex.sure").length == 3 && document.querySelectorAll(".wire").length == 7`)
	p.print("console-graph")
	p.alone = true
	if err := l.nodes[2].Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.goes(l.console(0, "#overview"))
	p.sees("table.members .off")
	p.print("console-overview")
}

// print writes a picture of the window, in as few bytes as it can be.
func (p *page) print(name string) {
	p.t.Helper()
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 1, 1))
	p.until(`document.getAnimations().every((a) => a.playState != "running")`)
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, fewer(picture))
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), out.Bytes(), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// fewer paints a picture with the 256 colours that it has most of: the others are those of the
// edges of letters.
func fewer(picture image.Image) image.Image {
	often := map[color.Color]int{}
	box := picture.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			often[picture.At(x, y)]++
		}
	}
	shade := func(c color.Color) uint32 { r, g, b, _ := c.RGBA(); return r>>8<<16 | g>>8<<8 | b>>8 }
	all := slices.SortedFunc(maps.Keys(often), func(a, b color.Color) int { return cmp.Or(often[b]-often[a], cmp.Compare(shade(a), shade(b))) })
	paint := color.Palette(all[:min(256, len(all))])
	nearest := map[color.Color]uint8{}
	for _, c := range all {
		nearest[c] = uint8(paint.Index(c))
	}
	out := image.NewPaletted(box, paint)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[picture.At(x, y)])
		}
	}
	return out
}

// What is between these marks in index.html is shown before the script is there.
const (
	skeletonBegin = "<div id=\"app\" inert>\n"
	skeletonEnd   = "\n</div>\n<noscript>"
)

// printed writes what is in an element of the page as index.html has it. Styles are left out,
// which the policy of the page would refuse.
const printed = `((app) => {
	const own = app.cloneNode(true);
	const was = app.querySelectorAll("*");
	own.querySelectorAll("*").forEach((e, i) => {
		e.removeAttribute("style");
		if (was[i].selected) e.setAttribute("selected", "");
		const all = [...e.attributes].sort((a, b) => a.name < b.name ? -1 : 1);
		for (const {name} of all) e.removeAttribute(name);
		for (const {name, value} of all) e.setAttribute(name, value);
		for (const n of [...e.childNodes, ...own.childNodes]) if (n.nodeType == 3 && !n.data.trim()) n.remove();
	});
	return own.innerHTML.replaceAll(/>(<(header|h1|h2|nav|main|section|div|p|ul|button|label|select|option)[ >])/g, ">\n$1");
})`

// What is there before the script, so that the first paint need not wait for it, is what the
// script shows as long as it knows nothing: nothing moves when the script comes.
func TestSkeleton(t *testing.T) {
	needsBrowser(t)
	done := make(chan struct{})
	late := instead(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/start" {
			return false
		}
		select {
		case <-done:
		case <-r.Context().Done():
		}
		return false
	})
	t.Cleanup(func() { close(done) })
	p := open(t, late)
	p.alone = true // the call may fail when the window is closed
	want := eval[string](p, printed+`(document.getElementById("app"))`)
	file := filepath.Join(root, "lab/web/src/index.html")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), skeletonBegin)
	_, after, found := strings.Cut(rest, skeletonEnd)
	if !ok || !found {
		t.Fatalf("%s has no %q ... %q", file, skeletonBegin, skeletonEnd)
	}
	if *skeleton {
		if err := os.WriteFile(file, []byte(before+skeletonBegin+want+skeletonEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := eval[string](p, printed+`(new DOMParser().parseFromString(`+quote(string(data))+`, "text/html").getElementById("app"))`); got != want {
		t.Errorf("index.html is not what the page shows first: run 'make skeleton'. It has\n%s\nwant\n%s", got, want)
	}
}
