package document

import (
	"fmt"
	"strings"
	"testing"
)

// TestErrorsHaveLines: what an option, the algorithm or the number of processes makes
// impossible is said at its line, also if it shows only when all of it is known.
func TestErrorsHaveLines(t *testing.T) {
	for _, c := range []struct {
		text string
		line int
		want string
	}{
		{"title x\nalgorithm suzuki-kasami+chang-roberts\nprocesses 5\npatience 10\nat 0 P1 asks\n", 4, "a patience of 10"},
		{"algorithm raymond\nprocesses 3\ntopology 1-2,2-9\nat 0 P1 asks\n", 3, "there is no process 9"},
		{"algorithm raymond\nprocesses 3\n\ntopology foo\nat 0 P1 asks\n", 4, "unknown topology"},
		{"processes 3\nalgorithm raimond\nat 0 P1 asks\n", 2, "unknown algorithm"},
		{"algorithm central\nprocesses 3\nk 3\nat 0 P1 asks\n", 3, "k"},
		{"algorithm maekawa\nsets 1:1,2;2:1,2;3:3\nprocesses 3\nat 0 P1 asks\n", 2, ""},
		{"algorithm maekawa\ntopology plane\nprocesses 5\nat 0 P1 asks\n", 2, "7 and 13"},
		{"algorithm central\ncoordinator 4\nprocesses 4\npatience 10\nat 0 P1 asks\n", 4, "patience"},
		{"algorithm wait-die\nprocesses 3\nat 0 P1 asks\n", 1, "run at sites"},
		{"processes 2\nalgorithm central\nsite 1 P1 L1\nsite 2 P2 L2\nat 0 P1 takes L1\n", 2, "central"},
		{"algorithm wait-die\nmode foo\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nat 0 P1 takes L1\n", 2, "mode"},
	} {
		for _, file := range []string{"", "f.stile"} {
			d := Run(c.text, Options{File: file})
			if d.Error == nil || d.Error.Line != c.line || !strings.Contains(d.Error.Text, c.want) || strings.Contains(d.Error.Text, fmt.Sprintf("line %d", c.line)) || strings.Contains(d.Error.Text, "f.stile") {
				t.Errorf("%swant line %d, %q; got %+v", c.text, c.line, c.want, d.Error)
			}
		}
	}
}

// TestRunEndsEarly: a run that is ended since nothing comes of it is said to be, if it
// was given more time.
func TestRunEndsEarly(t *testing.T) {
	const ring = "algorithm token-ring\nprocesses 5\nat 0 P1 asks\n"
	for _, c := range []struct{ text, want string }{
		{ring, ""},
		{ring + "until 20\n", ""},
		{ring + "until 100000000\n", "The run ended at 202, before 100000000, because events went on without progress. To see more, let a process ask later."},
		{"algorithm central\nprocesses 5\nat 0 P1 asks\nuntil 1000\n", ""},
	} {
		if d := run(c.text, Options{}, undrawn); d.Error != nil || d.Early != c.want || d.Cut != nil {
			t.Errorf("%s%q, want %q, %v", c.text, d.Early, c.want, d.Error)
		}
	}
}
