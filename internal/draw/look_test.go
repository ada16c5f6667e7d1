package draw

import (
	"math"
	"strconv"
	"testing"
)

// No two looks are alike until they repeat, and those of one colour differ in marker and
// dash as long as none is hollow.
func TestLooks(t *testing.T) {
	const solid, all = 7 * 8, 7 * 8 * 2
	seen := map[Look]int{}
	for i := range all {
		if j, ok := seen[LookAt(i)]; ok {
			t.Errorf("look %d is look %d", i, j)
		}
		seen[LookAt(i)] = i
	}
	if LookAt(all) != LookAt(0) {
		t.Errorf("looks do not repeat after %d", all)
	}
	for i := range solid {
		for j := range i {
			if a, b := LookAt(i), LookAt(j); a.hollow || a.colour == b.colour && (a.shape == b.shape || a.dash == b.dash) {
				t.Errorf("looks %d and %d have one colour, but differ only in part: %+v, %+v", i, j, a, b)
			}
		}
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
	if got := nearest(palette[:]); got < apart {
		t.Errorf("two colours are only %.3f apart, want %.2f", got, apart)
	}
	for _, ink := range palette {
		if got := ratio(linear(t, ink), linear(t, Paper)); got < contrast {
			t.Errorf("%s has a contrast of %.2f, want %.1f", ink, got, contrast)
		}
	}
	// An earlier palette fails: the test can.
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
