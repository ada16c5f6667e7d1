package page

import (
	"math"
	"strconv"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/world/compare"
)

// No two algorithms look alike, and those of one colour differ in marker and dash;
// nor do locks that survive deaths look like any other.
func TestLooksAreUnique(t *testing.T) {
	seen := map[look]string{}
	var plain []string
	for _, s := range catalog.All() {
		plain = append(plain, s.Name)
		for _, name := range append([]string{s.Name}, survivors(s.Name)...) {
			if other, ok := seen[lookOf(name)]; ok {
				t.Errorf("%s looks like %s", name, other)
			}
			seen[lookOf(name)] = name
		}
	}
	if len(seen) < len(plain)+30 {
		t.Errorf("only %d looks were tried", len(seen))
	}
	for i, x := range plain {
		for _, y := range plain[:i] {
			if a, b := lookOf(x), lookOf(y); a.colour == b.colour && (a.shape == b.shape || a.dash == b.dash) {
				t.Errorf("%s and %s have one colour, but differ only in part: %+v, %+v", x, y, a, b)
			}
		}
	}
	methods := map[look]bool{}
	rows := 0
	for _, m := range deadlock.Methods() {
		for _, mode := range append([]string{""}, m.Modes...)[min(1, len(m.Modes)):] {
			methods[lookOfMethod(m.Name, mode)] = true
			rows++
		}
	}
	if len(methods) != rows {
		t.Errorf("%d rows of methods have %d looks", rows, len(methods))
	}
}

// survivors lists the locks made of this one that survive deaths.
func survivors(lock string) []string {
	var all []string
	for _, e := range catalog.Elections() {
		if _, err := catalog.Make(lock+"+"+e.Name, algorithm.Options{}); err == nil {
			all = append(all, lock+"+"+e.Name)
		}
	}
	return all
}

// An algorithm keeps its look whatever it is compared with.
func TestLooksAreStable(t *testing.T) {
	few, many := small(t, "raymond"), small(t, "central", "raymond", "maekawa")
	a, b := mustRun(t, few), mustRun(t, many)
	if x, y := a.lines(compare.Measures()[0], 0, 0)[0].look, b.lines(compare.Measures()[0], 0, 0)[1].look; x != y {
		t.Errorf("raymond alone looks like %+v, beside others like %+v", x, y)
	}
}

// The colours are apart by at least this much in OKLab, where 0.02 can just be seen,
// for people who see all colours and for those who lack one kind of cone; and they
// stand out from the paper as graphics must.
const (
	apart    = 0.10
	contrast = 3.0
)

func TestPalette(t *testing.T) {
	var light, dark []string
	for _, p := range palette() {
		light, dark = append(light, p.light), append(dark, p.dark)
	}
	for _, paper := range []struct {
		colour string // as in report.html
		inks   []string
	}{{"#ffffff", light}, {"#14171b", dark}} {
		if got := nearest(paper.inks); got < apart {
			t.Errorf("on %s two colours are only %.3f apart, want %.2f", paper.colour, got, apart)
		}
		for _, ink := range paper.inks {
			if got := ratio(linear(t, ink), linear(t, paper.colour)); got < contrast {
				t.Errorf("%s on %s has a contrast of %.2f, want %.1f", ink, paper.colour, got, contrast)
			}
		}
	}
	// The palette that was here before fails: the test can.
	if got := nearest([]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7b61ff", "#8c564b"}); got >= apart/2 {
		t.Errorf("colours known to collide are %.3f apart", got)
	}
}

// A matrix turns what is seen by all cones into what is seen without some.
type matrix [3][3]float64

// sights returns normal sight and, by Machado, Oliveira and Fernandes (2009), full
// protanopia, deuteranopia and tritanopia, in linear RGB.
func sights() []matrix {
	return []matrix{
		{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
	}
}

// nearest returns how far apart the two colours are that are least so, to any sight.
func nearest(colours []string) float64 {
	least := math.Inf(1)
	for _, m := range sights() {
		for i, x := range colours {
			for _, y := range colours[:i] {
				a, b := oklab(m.see(linear(nil, x))), oklab(m.see(linear(nil, y)))
				least = min(least, math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]))
			}
		}
	}
	return least
}

func (m matrix) see(c [3]float64) [3]float64 {
	var out [3]float64
	for i, row := range m {
		out[i] = min(1, max(0, row[0]*c[0]+row[1]*c[1]+row[2]*c[2]))
	}
	return out
}

// linear returns a colour such as #1b4488 in linear RGB.
func linear(t *testing.T, hex string) [3]float64 {
	var c [3]float64
	for i := range c {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil && t != nil {
			t.Fatalf("%q: %v", hex, err)
		}
		if c[i] = float64(n) / 255; c[i] <= 0.04045 {
			c[i] /= 12.92
		} else {
			c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
	}
	return c
}

// ratio is the contrast of two colours by WCAG 2.
func ratio(x, y [3]float64) float64 {
	light := func(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05 }
	return max(light(x), light(y)) / min(light(x), light(y))
}

// oklab returns a colour in OKLab, where distances are as people see them.
func oklab(c [3]float64) [3]float64 {
	l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
	m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
	s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}
