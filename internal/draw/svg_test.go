package draw

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// checkSVG checks that a picture is well-formed and needs nothing from elsewhere.
func checkSVG(t *testing.T, picture string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, picture)
		}
	}
	for _, bad := range []string{"var(", "url(h", "href", "@import", "<script", "NaN", "Inf"} {
		if strings.Contains(picture, bad) {
			t.Errorf("the picture contains %q", bad)
		}
	}
}

// Whatever is written, the picture stays well-formed.
func TestCanvas(t *testing.T) {
	const hostile = "</text><script>\"'&\x00\x1b\u2028\ufffe\xff"
	var c Canvas
	c.Begin("10", "20", "aria-label", hostile)
	c.Background()
	c.Open("g", "class", "", "id", hostile)
	c.Leaf("path", hostile+"\nsecond", "d", "M0 0")
	c.Text("1", "2", hostile)
	c.Close("g")
	c.Close("svg")
	checkSVG(t, c.String())
	for want, n := range map[string]int{`viewBox="0 0 10 20"`: 1, "class": 0, "\nsecond</title>": 1, `>&lt;/text&gt;&lt;script&gt;&quot;'&amp;   ??</text>`: 1} {
		if got := strings.Count(c.String(), want); got != n {
			t.Errorf("%q is there %d times, want %d, in %s", want, got, n, c.String())
		}
	}
}

// A chart draws what was measured and leaves out what was not; large ranges are on a
// logarithmic scale.
func TestCharts(t *testing.T) {
	nan := math.NaN()
	svg := Charts{
		Title: "a < b", Note: "c", Columns: 2, Width: 400, Height: 300,
		Charts: []Chart{
			{Title: "one", Unit: "messages", Xs: []int{3, 9, 27}, Lines: []Line{{LookAt(0), "x", []float64{1, nan, 2}}, {LookAt(1), "y", []float64{nan, nan, nan}}}},
			{Title: "two", Unit: "messages", Xs: []int{5}, Lines: []Line{{LookAt(0), "x", []float64{12_345}}, {LookAt(1), "y", []float64{1}}}},
			{Title: "three", Xs: []int{3, 9}, Lines: []Line{{LookAt(0), "x", []float64{0, 0}}, {LookAt(1), "y", []float64{0, 1000}}}},
		},
	}.SVG()
	checkSVG(t, svg)
	for want, n := range map[string]int{
		">a &lt; b</text>": 1, ">x</text>": 1, ">y</text>": 1, "<polyline": 3 + 2 + 2, "<title>x, N=3: 1 messages</title>": 1, "<title>x, N=5: 12k messages</title>": 1, "<title>x, N=9: ": 1,
	} {
		if got := strings.Count(svg, want); got != n {
			t.Errorf("%q is there %d times, want %d", want, got, n)
		}
	}
	small := Chart{Xs: []int{1}, Lines: []Line{{Ys: []float64{1, 2, 3}}}}
	large := Chart{Xs: []int{1}, Lines: []Line{{Ys: []float64{1, 2, 300}}}}
	if small.frame(400, 300).log || !large.frame(400, 300).log {
		t.Error("want a logarithmic scale for the large range only")
	}
	for _, c := range []Chart{small, large, {Xs: []int{1}}} {
		f := c.frame(400, 300)
		ticks := f.ticks()
		if last := ticks[len(ticks)-1]; len(ticks) < 3 || len(ticks) > 20 || last > f.top || f.y(last) < marginTop || f.y(0) != f.bottom {
			t.Errorf("ticks at %v below %v", ticks, f.top)
		}
	}
}
