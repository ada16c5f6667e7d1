package main

import (
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/check"
)

// The memory limit of the program follows --memory while a check runs.
func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	f := &checkFlags{}
	f.config.Memory = 1 << 30
	_, l, end := f.begin(newCheck())
	if got := debug.SetMemoryLimit(-1); got < 1<<30 || got > 5<<28 || l.Memory != 1<<30 || l.Context.Err() != nil {
		t.Errorf("the limit is %d, --memory %d", got, l.Memory)
	}
	if end(); debug.SetMemoryLimit(-1) != before {
		t.Errorf("afterwards the limit is %d, want %d", debug.SetMemoryLimit(-1), before)
	}
}

// A line of progress names the pass, and its rate is that of the pass.
func TestProgressLine(t *testing.T) {
	got := progressLine(check.Progress{Pass: "fence", States: 3000, Queue: 2, Depth: 7, Memory: 5 << 20, Elapsed: 2 * time.Second})
	if want := "fence: 3,000 states, 1,500/s, queue 2 blocks, depth 7, 5MiB"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A hint without a command that shows it is a sentence of its own.
func TestHintAlone(t *testing.T) {
	var b strings.Builder
	printTable(newPrinter(&b), &check.Report{Hint: "nobody gets in"}, "")
	if !strings.HasSuffix(b.String(), "\n\nnobody gets in.\n") {
		t.Errorf("got %q", b.String())
	}
}
