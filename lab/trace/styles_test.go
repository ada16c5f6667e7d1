package trace

import (
	"slices"
	"strconv"
	"testing"
)

// seen returns a colour as somebody sees it who has no cones for green (or for
// red), after Machado, Oliveira and Fernandes, 2009.
func seen(colour string, red bool) [3]float64 {
	m := [3][3]float64{{0.367, 0.861, -0.228}, {0.280, 0.673, 0.047}, {-0.012, 0.043, 0.969}}
	if red {
		m = [3][3]float64{{0.152, 1.053, -0.205}, {0.115, 0.786, 0.099}, {-0.004, -0.048, 1.052}}
	}
	v, _ := strconv.ParseUint(colour[1:], 16, 32)
	rgb := [3]float64{float64(v >> 16), float64(v >> 8 & 255), float64(v & 255)}
	var out [3]float64
	for i := range out {
		for j := range rgb {
			out[i] += m[i][j] * rgb[j]
		}
	}
	return out
}

// What colours mean can be told by everybody: inside, waiting, violation, the
// token and the first kind of message.
func TestColoursForAll(t *testing.T) {
	means := []string{green, orange, alarm, tokenStyle().Colour, palette()[0].Colour, faint}
	for i, a := range means {
		for _, b := range means[:i] {
			for _, red := range []bool{false, true} {
				x, y := seen(a, red), seen(b, red)
				d := 0.0
				for k := range x {
					d += (x[k] - y[k]) * (x[k] - y[k])
				}
				if d < 45*45 {
					t.Errorf("%s and %s look alike to some", a, b)
				}
			}
		}
	}
}

// Messages are never told apart by their colour alone.
func TestDashesDiffer(t *testing.T) {
	type look struct {
		dash  string
		heavy bool
	}
	var looks []look
	colours := []string{green, orange, alarm}
	for _, s := range append(palette(), tokenStyle()) {
		if l := (look{s.Dash, s.Heavy}); slices.Contains(looks, l) {
			t.Errorf("%s has the dashes of another", s.Colour)
		} else {
			looks = append(looks, l)
		}
		if slices.Contains(colours, s.Colour) {
			t.Errorf("%s is there twice", s.Colour)
		}
		colours = append(colours, s.Colour)
	}
}

func TestLetterNames(t *testing.T) {
	for _, c := range []struct{ kinds, want []string }{
		{[]string{"REQUEST", "OK"}, []string{"R", "O"}},
		{[]string{"REQUEST", "RELEASE", "GRANT"}, []string{"Rq", "Rl", "G"}},
		{[]string{"RELAY", "RELEASE", "REQUEST"}, []string{"Ra", "Re", "Rq"}},
		{[]string{"A", "AB", ""}, []string{"A", "Ab", "?"}},
		{[]string{"RXA", "RXB", "RAB"}, []string{"Ra", "RXB", "RAB"}},
	} {
		got := letterNames(c.kinds)
		for i, name := range got {
			if slices.Contains(got[:i], name) {
				t.Errorf("%v are called %v", c.kinds, got)
			}
		}
		if c.kinds[0] != "RXA" && !slices.Equal(got, c.want) {
			t.Errorf("%v are called %v, want %v", c.kinds, got, c.want)
		}
	}
}
