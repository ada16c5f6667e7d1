package page

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var shots = flag.String("shots", "", "folder that the pictures of the documentation are written into")

// TestShots makes the pictures of the documentation, from the real page: 'make
// screenshots'.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("make screenshots writes them")
	}
	for _, c := range []struct {
		name string
		text string
		dark bool
		pose func(*visit)
	}{
		{"lab-raymond", example(t, "raymond-a"), false, poseRaymond},
		{"lab-bank", "", false, poseBank},
		{"lab-check", "", false, poseCheck},
		{"lab-compare", example(t, "raymond-a"), false, poseCompare},
		{"lab-sites", example(t, "none-ring"), true, poseSites},
	} {
		p := open(t, "about:blank")
		p.do(chromedp.EmulateViewport(1360, 850))
		p.media("prefers-color-scheme", map[bool]string{true: "dark", false: "light"}[c.dark])
		v := &visit{page: p}
		p.do(chromedp.Navigate(serve(t, labOf(t, &bench{start: c.text}))))
		p.until(`document.querySelector(".count")?.innerText.match(/of [1-9]/)`)
		c.pose(v)
		p.do(chromedp.MouseEvent(chromedp.MouseMoved, 1, 1))
		p.until(`document.getAnimations().every((a) => a.playState != "running")`)
		p.print(filepath.Join(*shots, c.name+".png"))
	}
}

// print writes a picture, in as few bytes as it can be.
func (p *page) print(path string) {
	p.t.Helper()
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, fewer(picture)); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
	if out.Len() > 150_000 {
		p.t.Errorf("%s has %d bytes", path, out.Len())
	}
}

// fewer paints a picture with the 256 colours that it has most of: the others are
// those of the edges of letters.
func fewer(picture image.Image) image.Image {
	often := map[color.Color]int{}
	box := picture.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			often[picture.At(x, y)]++
		}
	}
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

func shade(c color.Color) uint32 {
	r, g, b, _ := c.RGBA()
	return r>>8<<16 | g>>8<<8 | b>>8
}

// poseRaymond is in the middle of a run, where a click has just made a line.
func poseRaymond(v *visit) {
	v.key("ee")
	v.until(`document.querySelector(".process[data-proc='4']").classList.contains("is-inside")`)
	v.key("5l")
	v.see(".editor-line.is-newest")
}

// poseBank is where two are inside.
func poseBank(v *visit) {
	v.press("The bank that loses")
	v.until(`!document.querySelector("dialog[open]") && document.title.includes("bank")`)
	v.key("v")
	v.until(`document.querySelector(".plot-words .on-violation")`)
}

// poseCheck is a check that found a counterexample.
func poseCheck(v *visit) {
	v.press("The bank that loses")
	v.until(`!document.querySelector("dialog[open]") && document.title.includes("bank")`)
	v.key("k")
	v.see("dialog.panel-check")
	v.press("Check")
	v.see(".check-verdict")
}

// poseCompare is the map of algorithms.
func poseCompare(v *visit) {
	v.show("compare")
	v.press("Compare")
	v.see(".compare-cell.is-best") // all are measured
}

// poseSites is a deadlock.
func poseSites(v *visit) {
	for range 60 {
		if eval[bool](v.page, `Boolean(document.querySelector(".wait.cycle"))`) {
			return
		}
		v.key(kb.ArrowRight)
	}
}
