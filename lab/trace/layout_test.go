package trace_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/trace"
)

// The layout is one plain value: its JSON has lower-case keys and plain
// numbers, and is the same each time.
func TestLayoutJSON(t *testing.T) {
	l := layout(t, trouble(), trace.Options{Focus: new(14)})
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(layout(t, trouble(), trace.Options{Focus: new(14)}))
	if string(data) != string(again) {
		t.Error("two layouts of one trace differ")
	}
	for _, key := range regexp.MustCompile(`"([^"\\]*)":`).FindAllStringSubmatch(string(data), -1) {
		if strings.ContainsFunc(key[1], func(r rune) bool { return !unicode.IsLower(r) && !unicode.IsDigit(r) }) {
			t.Errorf("key %q", key[1])
		}
	}
	var m struct {
		Page   map[string]float64 `json:"page"`
		Arrows []struct {
			From struct{ X, Lane, DY float64 }
			Bend []struct{ X, Y float64 }
		}
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if m.Page["width"] < 600 || m.Page["pitch"] != 44 || len(m.Arrows) != 7 || m.Arrows[0].From.X != 20 {
		t.Errorf("%+v", m)
	}
}

// The painter computes no position: whatever the layout says is where it is.
func TestSVGPaintsTheLayout(t *testing.T) {
	l := layout(t, trouble(), trace.Options{})
	before := l.SVG()
	l.Page.Left += 1230 // 123 pixels
	after := l.SVG()
	if before == after || strings.Count(before, "<path") != strings.Count(after, "<path") {
		t.Error("a plot that is moved is painted where it was")
	}
	arrows := 0
	for i := range l.Arrows {
		path := l.Path(&l.Arrows[i])
		if strings.Contains(after, `d="M`+path[0].String()) {
			arrows++
		}
	}
	if arrows != len(l.Arrows) {
		t.Errorf("%d of %d arrows begin where the layout says", arrows, len(l.Arrows))
	}
}

// No two labels lie on each other, and all that have no room are counted.
func TestLabelsDoNotOverlap(t *testing.T) {
	type box struct{ x1, y1, x2, y2 trace.Length }
	cut := false
	for _, name := range []string{"raymond", "ricart-agrawala", "maekawa", "central", "lamport"} {
		for _, n := range []int{3, 8, 20} {
			l := layout(t, simulate(t, config(t, name, n, 2*n, "1", 1)), trace.Options{})
			var boxes []box
			missing := 0
			for _, a := range l.Arrows {
				if a.Tip == "" {
					t.Fatalf("message %d has no tip", a.Message)
				}
				if a.Label == nil {
					missing++
					continue
				}
				y := l.Y(a.Label.At)
				wide := trace.TextWidth(a.Label.Text, a.Label.Size)
				b := box{a.Label.At.X, y - a.Label.Size*7/10, a.Label.At.X + wide, y}
				switch a.Label.Anchor {
				case "middle":
					b.x1, b.x2 = b.x1-wide/2, b.x2-wide/2
				case "end":
					b.x1, b.x2 = b.x1-wide, b.x2-wide
				}
				for _, c := range boxes {
					if b.x1 < c.x2 && c.x1 < b.x2 && b.y1 < c.y2 && c.y1 < b.y2 {
						t.Fatalf("%s among %d: the label %q of message %d lies on another", name, n, a.Label.Text, a.Message)
					}
				}
				boxes = append(boxes, b)
			}
			said := strings.Contains(l.SVG(), "omitted for lack of room")
			if missing != l.LeftOut || said != (missing > 0) {
				t.Errorf("%s among %d: %d labels are missing, %d counted; the picture says so: %v", name, n, missing, l.LeftOut, said)
			}
			cut = cut || missing > 0
			if svg := l.SVG(); strings.Count(svg, "sends ") < len(l.Arrows) {
				t.Errorf("%s among %d: %d tips for %d arrows", name, n, strings.Count(svg, "sends "), len(l.Arrows))
			}
		}
	}
	if !cut {
		t.Error("no picture leaves a label out: this test proves nothing")
	}
}

// Requests have their stamps in the text and in the picture; what is no stamp
// is not shown as one.
func TestStamps(t *testing.T) {
	for _, name := range []string{"ricart-agrawala", "lamport", "maekawa", "central-stamped"} {
		tr := simulate(t, config(t, name, 3, 2, "1", 1))
		text, svg := tr.Text(trace.TextOptions{}), tr.SVG(trace.Options{Labels: trace.LabelsFull})
		if !strings.Contains(text, "REQUEST (1,P") || !regexp.MustCompile(`>REQUEST \(1,P[123]\)<`).MatchString(svg) {
			t.Errorf("%s: no stamp in\n%s", name, text)
		}
		if strings.Contains(text, "OK (") || strings.Contains(text, "REPLY (") || strings.Contains(text, "LOCKED (") {
			t.Errorf("%s: a clock is told as a stamp:\n%s", name, text)
		}
	}
	tr := trace.Trace{N: 2, Unit: 1, Beside: "sum", Events: []trace.Event{
		{Kind: trace.Send, Proc: 0, Peer: 1, Msg: 1, Name: "WRITE", Fields: []host.Field{{Name: "sum", Value: "7"}, {Name: "by", Value: "8"}}},
		{Step: 1, At: 1, Kind: trace.Receive, Proc: 1, Peer: 0, Msg: 1, Name: "WRITE", Fields: []host.Field{{Name: "sum", Value: "7"}}},
	}}
	if text, svg := tr.Text(trace.TextOptions{}), tr.SVG(trace.Options{}); !strings.Contains(text, "WRITE 7") || !strings.Contains(svg, ">WRITE 7<") {
		t.Errorf("no sum beside the message in\n%s", text)
	}
	if tr := simulate(t, config(t, "raymond", 3, 2, "1", 1)); strings.Contains(tr.Text(trace.TextOptions{}), "REQUEST (") {
		t.Error("raymond has no stamps, but its requests are shown with some")
	}
}

// Red is for violations: it is in no picture of a run without one, and a
// critical section is green in all, also where two are inside.
func TestColours(t *testing.T) {
	const red, green = "#cc2900", "#007a55"
	calm := load(t, "ricart-agrawala-3").SVG(trace.Options{})
	body := func(svg string) string { _, after, _ := strings.Cut(svg, "</style>"); return after }
	if strings.Contains(body(calm), red) || !strings.Contains(body(calm), green) {
		t.Error("a run without a violation: want green and no red")
	}
	wrong := trouble().SVG(trace.Options{})
	if !strings.Contains(body(wrong), red) || strings.Count(body(wrong), `fill="`+green) < 3 {
		t.Error("a run with a violation: want red, and green for two sections and the legend")
	}
	l := layout(t, trouble(), trace.Options{})
	for _, k := range l.Kinds {
		if slices.Contains([]string{red, green}, k.Colour) {
			t.Errorf("messages %s have a colour that means something else", k.Name)
		}
	}
	if !strings.Contains(wrong, "prefers-color-scheme: dark") {
		t.Error("the picture knows nothing of dark pages")
	}
}

// The legend lists exactly what is in the picture.
func TestLegendIsExact(t *testing.T) {
	for seed := range uint64(40) {
		tr := random(seed, 1+int(seed%6), 120)
		for _, o := range []trace.Options{{}, {From: 2, To: 5}, {Focus: new(30)}} {
			l := layout(t, tr, o)
			want := map[string]bool{}
			for _, a := range l.Arrows {
				want["arrow "+l.Kinds[a.Kind].Name] = true
				if a.End != trace.EndArrives {
					want["end "+a.End] = true
				}
			}
			for _, b := range l.Bars {
				want["bar "+b.Means] = true
			}
			for _, m := range l.Marks {
				want["mark "+m.Means] = true
			}
			for _, u := range l.Uprights {
				if u.Means != trace.UprightViolation { // its mark is explained
					want["upright "+u.Means] = true
				}
			}
			for _, s := range l.Legend {
				name := s.Shows + " " + s.Means
				if s.Kind >= 0 {
					name = s.Shows + " " + l.Kinds[s.Kind].Name
				}
				if s.Shows != trace.SampleCopy && !want[name] {
					t.Fatalf("seed %d, %+v: the legend explains %q, which is not there", seed, o, name)
				}
				delete(want, name)
			}
			if len(want) > 0 {
				t.Fatalf("seed %d, %+v: the legend does not explain %v", seed, o, want)
			}
		}
	}
}

// What is said of cuts is read in the order of what happened, row by row, and belongs
// to the last lane: who moves lanes apart moves it with that.
func TestCutsReadInOrder(t *testing.T) {
	for _, c := range []struct {
		times []int64
		rows  int
	}{{[]int64{16, 90}, 1}, {[]int64{16, 17}, 2}, {[]int64{90, 91}, 1}, {[]int64{50, 51, 90, 91}, 2}} {
		s := newScript(3, "cuts")
		s.do(0, trace.Ask, 0)
		for i, at := range c.times {
			s.at = at
			if i%2 == 0 {
				s.add(trace.Event{Kind: trace.Partition, Proc: algorithm.None, Name: "P3 | P1 P2"})
			} else {
				s.add(trace.Event{Kind: trace.Heal, Proc: algorithm.None})
			}
		}
		s.do(100, trace.Ask, 1)
		l := layout(t, s.t, trace.Options{})
		rows := map[trace.Length]trace.Length{} // where the words of each end
		last := trace.Length(0)
		for i, u := range l.Uprights {
			if u.Label == nil {
				t.Fatalf("%v: nothing is said of cut %d", c.times, i)
			}
			at, wide := u.Label.At, trace.TextWidth(u.Label.Text, u.Label.Size)
			x := at.X - map[string]trace.Length{"middle": wide / 2, "end": wide}[u.Label.Anchor]
			if at.Lane != 2 || at.DY <= 0 || x < rows[at.DY] || i%2 == 1 && at.DY < last {
				t.Errorf("%v: %q is at %+v, from %v", c.times, u.Label.Text, at, x)
			}
			rows[at.DY], last = x+wide, at.DY
		}
		if len(rows) != c.rows {
			t.Errorf("%v: there are %d rows, want %d", c.times, len(rows), c.rows)
		}
	}
}
