package compare

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/internal/jobs"
)

// until returns how to make runs one after the other until so many are done.
func until(t *testing.T, runs int) jobs.Parallel {
	ctx, cancel := context.WithCancel(t.Context())
	return jobs.Parallel{Workers: 1, Context: ctx, Progress: func(done, _ int) {
		if done == runs {
			cancel()
		}
	}}
}

// pages returns a comparison as a page, as a picture and as JSON, which must be
// whole.
func pages(t *testing.T, m interface {
	HTML() ([]byte, error)
	SVG() string
}, report any) (page, picture, text string) {
	t.Helper()
	data, err := m.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "</html>") || strings.Contains(string(data), "NaN") {
		t.Errorf("the page is not whole, or has no numbers")
	}
	d := xml.NewDecoder(strings.NewReader(m.SVG()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture: %v", err)
		}
	}
	out, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), m.SVG(), string(out)
}

// A comparison that is interrupted has the runs that were made, says so, and names
// nobody best where one is missing.
func TestStoppedComparison(t *testing.T) {
	c := small(t, "raymond", "ricart-agrawala")
	c.Parallel = until(t, 3) // of two at each place
	m := mustRun(t, c)
	if got := m.Stopped(); got != "3 of 16 runs" {
		t.Errorf("stopped after %q, want 3 of 16 runs", got)
	}
	by := Measures()[0]
	if best := m.Best(by, 0); len(best.Specs) == 0 {
		t.Error("nobody is best where all runs were made")
	}
	if best := m.Best(by, 1); len(best.Specs) > 0 {
		t.Errorf("%v is best where a run is missing", best)
	}
	if !m.Begun(0, 0) || m.Begun(1, 1) || !m.Complete(0) || m.Complete(1) {
		t.Error("it does not know what was run")
	}
	page, picture, text := pages(t, m, m.Report())
	if !strings.Contains(page, "Interrupted after 3 of 16 runs") || !strings.Contains(picture, "INTERRUPTED after 3 of 16 runs") {
		t.Error("page or picture do not say that it was interrupted")
	}
	if n := strings.Count(text, `"stopped":true`); n != 14 { // 13 runs, and the whole
		t.Errorf("%d times stopped, want 14: %s", n, text)
	}
	c.Parallel = jobs.Parallel{}
	page, picture, text = pages(t, mustRun(t, c), mustRun(t, c).Report())
	if all := strings.ToLower(page + picture + text); strings.Contains(all, "interrupted") || strings.Contains(all, "stopped") {
		t.Error("a comparison that came to its end says that it was interrupted")
	}
}

// A run under way is ended, and does not count.
func TestStoppedRun(t *testing.T) {
	c := small(t, "raymond")
	ctx, cancel := context.WithCancel(t.Context())
	c.Entries, c.Context = 1_000_000, ctx
	cell := Cell{Place: c.Places()[0], Spec: c.Specs[0]}
	cancel()
	if done, err := cell.run(c); done || err != nil || !cell.Stopped {
		t.Errorf("not begun: done %t, %v, %+v", done, err, cell)
	}
	looks := 0
	c.Context = lateContext{t.Context(), &looks}
	cell = Cell{Place: c.Places()[0], Spec: c.Specs[0]}
	if done, err := cell.run(c); done || err != nil || !cell.Stopped || cell.Result != nil || looks != 3 {
		t.Errorf("under way: done %t, %v, %+v, %d looks", done, err, cell, looks)
	}
}

// A lateContext is done at the third look.
type lateContext struct {
	context.Context
	looks *int
}

func (c lateContext) Err() error {
	if *c.looks++; *c.looks < 3 {
		return nil
	}
	return context.Canceled
}

func TestStoppedDeadlockComparison(t *testing.T) {
	c := DeadlockConfig{Methods: deadlock.Kept(), Processes: []int{2, 5}, Locks: 6, Sites: 3, Transactions: 40, Seed: 1, Parallel: until(t, 4)}
	m, err := RunDeadlock(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Stopped(); got != "4 of 22 runs" {
		t.Errorf("stopped after %q, want 4 of 22 runs", got)
	}
	page, picture, text := pages(t, m, m.Report())
	if !strings.Contains(page, "Interrupted after 4 of 22 runs") || !strings.Contains(picture, "INTERRUPTED after 4 of 22 runs") {
		t.Error("page or picture do not say that it was interrupted")
	}
	if n := strings.Count(text, `"result":null,"stopped":true`); n != 18 {
		t.Errorf("%d runs are missing, want 18: %s", n, text)
	}
}

// A picture stands alone: every algorithm is in the key and in each chart, and
// nothing comes from elsewhere.
func TestPicture(t *testing.T) {
	c := small(t, catalogNames()...)
	picture := mustRun(t, c).SVG()
	for _, name := range catalogNames() {
		if n := strings.Count(picture, ">"+name+"</text>"); n != 1 {
			t.Errorf("%s is %d times in the key", name, n)
		}
	}
	lines := strings.Count(picture, `<g class="line`)
	if want := len(catalogNames()) * (4 + 1); lines != want { // four loads, and the key
		t.Errorf("%d lines, want %d", lines, want)
	}
	for _, bad := range []string{"var(", "url(", "href", "@import", "NaN"} {
		if strings.Contains(picture, bad) {
			t.Errorf("the picture contains %q", bad)
		}
	}
	m, err := RunDeadlock(DeadlockConfig{Methods: deadlock.Kept(), Processes: []int{2, 5}, Locks: 6, Sites: 3, Transactions: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	picture = m.SVG()
	for _, says := range []string{">detect-central, change</text>", ">Throughput, commits per T</text>", ">Messages per transaction, messages</text>"} {
		if strings.Count(picture, says) != 1 {
			t.Errorf("the picture does not say %s once", says)
		}
	}
}

// The markers of the page are beside names, not only colours.
func TestMarkersBesideNames(t *testing.T) {
	c := small(t, "raymond", "ricart-agrawala")
	data, err := mustRun(t, c).HTML()
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, want := range []string{
		`<td class="best c`, `<svg class="of"`, `<svg class="sample"`, `<h3 class="c`, `<path class="lead"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if n := strings.Count(page, `<svg class="of" `) - strings.Count(page, `class="best c`); n != len(c.Specs) { // the cards
		t.Errorf("%d markers beside names of cards, want %d", n, len(c.Specs))
	}
}
