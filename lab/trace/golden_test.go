package trace_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s, line %d\n got %s\nwant %s\nif that is better: go test ./trace -update", path, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s has %d lines, want %d; if that is better: go test ./trace -update", path, len(g), len(w))
}

func TestGolden(t *testing.T) {
	ra3, sk5 := load(t, "ricart-agrawala-3"), load(t, "suzuki-kasami-5")
	golden(t, "ricart-agrawala-3.txt", ra3.Text(trace.TextOptions{}))
	golden(t, "ricart-agrawala-3.story.txt", ra3.Story(trace.TextOptions{}))
	golden(t, "ricart-agrawala-3.svg", ra3.SVG(trace.Options{}))
	golden(t, "ricart-agrawala-3.shiviz.log", ra3.ShiViz())
	golden(t, "ricart-agrawala-6.txt", load(t, "ricart-agrawala-6").Text(trace.TextOptions{}))
	golden(t, "maekawa-8.txt", load(t, "maekawa-8").Text(trace.TextOptions{MaxRows: 30}))
	golden(t, "suzuki-kasami-5.fields.txt", sk5.Text(trace.TextOptions{Fields: true}))
	golden(t, "suzuki-kasami-5.focus.svg", sk5.SVG(trace.Options{Focus: new(40)}))
	golden(t, "trouble.txt", trouble().Text(trace.TextOptions{}))
	golden(t, "trouble.svg", trouble().SVG(trace.Options{}))
}

func TestTextFitsTheTerminal(t *testing.T) {
	for seed := range uint64(40) {
		tr := random(seed, 1+int(seed%10), 80)
		for _, width := range []int{80, 120} {
			for line := range strings.Lines(tr.Text(trace.TextOptions{Width: width, Fields: true})) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Fatalf("seed %d: %d columns, want %d at most:\n%s", seed, n, width, line)
				}
			}
		}
	}
}

func TestTextSaysEverything(t *testing.T) {
	count := func(s, what string) int { return strings.Count(s, what) }
	for seed := range uint64(20) {
		tr := random(seed, 3, 80)
		text := tr.Text(trace.TextOptions{Width: 400})
		arrivals, violations := 0, 0
		for _, e := range tr.Events {
			switch e.Kind {
			case trace.Receive:
				arrivals++
			case trace.Violation:
				violations++
			}
		}
		if got := count(text, " ← "); got != arrivals {
			t.Errorf("seed %d: %d arrivals are told, want %d", seed, got, arrivals)
		}
		if got := count(text, "VIOLATION"); got != violations {
			t.Errorf("seed %d: %d violations are told, want %d", seed, got, violations)
		}
		if got := count(tr.Story(trace.TextOptions{}), "\n"); got != len(tr.Events) {
			t.Errorf("seed %d: the story has %d sentences, want %d", seed, got, len(tr.Events))
		}
	}
}

func TestLongTextIsCut(t *testing.T) {
	s := newScript(2, "")
	for i := range int64(100) {
		s.do(2*i, trace.Ask, 0)
		s.do(2*i+1, trace.Deny, 0)
		if i == 50 {
			s.add(trace.Event{Kind: trace.Violation, Proc: 0, Peer: algorithm.None, Name: "order"})
		}
	}
	text := s.t.Text(trace.TextOptions{MaxRows: 20})
	if n := strings.Count(text, "\n"); n != 1+20+2 {
		t.Errorf("%d lines, want a heading, 20 rows and 2 words about what is left out:\n%s", n, text)
	}
	for _, want := range []string{"... 83 rows omitted ...", "... 98 rows omitted ...", "VIOLATION"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	part := s.t.Text(trace.TextOptions{From: 1, To: 1.3})
	if n := strings.Count(part, "\n"); n != 1+4 {
		t.Errorf("%d lines from tick 10 to 13, want 5:\n%s", n, part)
	}
}

func wellFormed(s string) error {
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestSVGIsXML(t *testing.T) {
	for seed := range uint64(30) {
		tr := random(seed, 1+int(seed%14), 80)
		tr.Title = "a\x00b\x1b<&>\"'\ufffe\xff" // a trace may come from a file
		tr.Events[0].Kind, tr.Events[0].Name = trace.Note, "]]><script>"
		for _, o := range []trace.Options{{}, {Focus: new(20)}, {Focus: new(-3)}, {From: 2, To: 4}, {From: 1 << 50}, {To: 0.1}, {From: math.NaN(), To: math.Inf(1), Scale: -1}} {
			if err := wellFormed(tr.SVG(o)); err != nil {
				t.Fatalf("seed %d, %+v: %v", seed, o, err)
			}
		}
	}
	empty := trace.Trace{N: 3}
	if err := wellFormed(empty.SVG(trace.Options{})); err != nil {
		t.Error(err)
	}
}

// A long run shows what matters: the violation, or what is in focus.
func TestLongSVGIsCut(t *testing.T) {
	tr := random(3, 3, 3000)
	for i := range tr.Events {
		if tr.Events[i].Kind == trace.Violation {
			tr.Events[i].Kind, tr.Events[i].Name = trace.Note, "calm"
		}
	}
	tr.Events[2000].Kind, tr.Events[2000].Name, tr.Events[2000].Proc = trace.Violation, "order", 1
	svg := tr.SVG(trace.Options{})
	for _, want := range []string{">time ", " messages; ", "VIOLATION of order"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	if len(svg) > 200_000 {
		t.Errorf("the picture has %d bytes: it is not cut", len(svg))
	}
	if svg := tr.SVG(trace.Options{Focus: new(2900)}); !strings.Contains(svg, "step 2900") || strings.Contains(svg, "VIOLATION") {
		t.Error("the picture does not show what is in focus")
	}
}
