package trace_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/trace"
)

// In ASCII no byte is above 127, whatever is in the trace, and each line has
// the lanes where they were.
func TestASCII(t *testing.T) {
	all := []*trace.Trace{trouble(), load(t, "ricart-agrawala-3"), load(t, "maekawa-8")}
	for seed := range uint64(20) {
		tr := random(seed, 1+int(seed%10), 80)
		tr.Title = "größer → 漢字\xff"
		tr.Names = []string{"Köln"}
		tr.Events[0].Kind, tr.Events[0].Name = trace.Note, "…‖"
		all = append(all, tr)
	}
	for _, tr := range all {
		plain, fancy := trace.TextOptions{ASCII: true, Fields: true}, trace.TextOptions{Fields: true}
		for _, c := range [][2]string{
			{tr.Text(plain), tr.Text(fancy)}, {tr.Story(plain), tr.Story(fancy)}, {tr.Tale(plain), tr.Tale(fancy)},
		} {
			for i := range len(c[0]) {
				if c[0][i] > 127 {
					t.Fatalf("%q is not ASCII", c[0][max(0, i-20):i+1])
				}
			}
			if len(c[0]) == 0 || c[1] != "" && c[0] == "" {
				t.Fatalf("nothing is left of\n%s", c[1])
			}
		}
		for line := range strings.Lines(tr.Text(plain)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Fatalf("%d columns:\n%s", n, line)
			}
		}
	}
	// The check above can fail: without the option there are other bytes.
	if s := trouble().Text(trace.TextOptions{}); len(s) == utf8.RuneCountInString(s) {
		t.Error("there is nothing but ASCII without the option, too")
	}
	golden(t, "trouble.ascii.txt", trouble().Text(trace.TextOptions{ASCII: true}))
}

// Whatever diagrams are drawn with has one ASCII character in its place, and
// lanes that differ still do.
func TestASCIIGlyphs(t *testing.T) {
	if got, want := words.ASCII("┊ ┃ █ ‖ ─►◄ ▶◀ üŻ 字"), ": | # = ->< >< uZ ?"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	lanes := words.ASCII("┊┃█‖ ")
	for i := range lanes {
		if strings.Count(lanes, lanes[i:i+1]) != 1 {
			t.Errorf("%q is drawn for two things in %q", lanes[i:i+1], lanes)
		}
	}
}
