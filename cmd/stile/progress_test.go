package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A line is written only a few times per second, and leaves nothing behind.
func TestStatusLine(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	l := &progress{Context: t.Context(), release: func() {}, line: statusLine{w: &out, now: func() time.Time { return now }, last: now}}
	l.bar(0, 80) // too early
	l.clear()    // nothing to remove
	now = now.Add(redrawInterval)
	l.bar(40, 80)
	l.bar(41, 80) // too soon after the last
	l.print(&out, "told")
	now = now.Add(redrawInterval)
	l.show("%s", strings.Repeat("x", 100)) // no longer than the screen is wide
	l.end()
	want := "\r\x1b[K[####################                    ] 40 of 80 runs\r\x1b[Ktold\n\r\x1b[K" + strings.Repeat("x", 78) + "…\r\x1b[K"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// A command that is not on a terminal shows nothing.
func TestNoLineInFiles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, w := range []any{f, &bytes.Buffer{}} {
		if terminalOrNil(w.(interface{ Write([]byte) (int, error) })) != nil {
			t.Errorf("%T is taken for a terminal", w)
		}
	}
	l := &progress{Context: t.Context(), release: func() {}, line: statusLine{now: time.Now}}
	l.show("x")
	l.end()
}

// A watch shows how far a run is, and ends it when the command is interrupted.
func TestWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	c := &cobra.Command{}
	c.SetContext(ctx)
	l := startProgress(c)
	defer l.end()
	now := time.Unix(0, 0)
	l.line.w, l.line.now, l.line.last = &out, func() time.Time { now = now.Add(redrawInterval); return now }, now
	watch := l.watch("entries")
	if !watch(sim.Progress{Events: 70_000, Done: 1234, Of: 5000}) || !watch(sim.Progress{Events: 140_000}) {
		t.Error("ended without an interrupt")
	}
	cancel()
	if watch(sim.Progress{}) || l.on() {
		t.Error("interrupted, and it goes on")
	}
	if want := "\r\x1b[K1,234 of 5,000 entries, 70,000 events\r\x1b[K140,000 events\r\x1b[K0 events"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// A report of an interrupted run says so, after what there is; what was found stays
// found.
func TestStoppedReport(t *testing.T) {
	var out bytes.Buffer
	wrong := findings{[]string{"two inside"}}
	err := runAndReport(&out, false, nil, func() (outcome, error) {
		return outcome{text: func(p *printer) { p.line("3 messages") }, stopped: "1 of 2 runs", wrong: wrong}, nil
	})
	if want := "3 messages\n\nInterrupted after 1 of 2 runs: these are the results so far.\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	var u unfinished
	if !errors.As(err, &u) || u.why != "interrupted after 1 of 2 runs" || !errors.As(err, new(findings)) {
		t.Errorf("got the error %v", err)
	}
}

// All files of an interrupted run say so; those of a run that came to its end do
// not, and hold everything or are refused.
func TestRecorderInterrupted(t *testing.T) {
	r := newRecorder(2, algorithm.Spec{Title: "Title", Name: "name", Kinds: []string{"K"}})
	r.observe(trace.Event{Kind: trace.Ask, Proc: 1, Peer: algorithm.None})
	paths := []string{"x.json", "x.log", "x.txt"}
	contents := func() []string {
		var all []string
		for _, path := range paths {
			files, err := r.files(&traceOutput{svg: "x.svg", trace: path})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				data, err := f.content()
				if err != nil {
					t.Fatalf("%s: %v", f.path, err)
				}
				all = append(all, string(data))
			}
		}
		return append(all, r.storyText(t))
	}
	says := func(s string) bool { return strings.Contains(s, "interrupted after 1 of 9 entries") }
	if all := contents(); slices.ContainsFunc(all, says) {
		t.Errorf("not interrupted, but one of them says so: %q", all)
	}
	r.interrupted("1 of 9 entries")
	for i, s := range contents() {
		if !says(s) {
			t.Errorf("file %d does not say that it was interrupted: %s", i, s)
		}
	}
	if err := r.kept(algorithm.None).Check(); err != nil {
		t.Error(err)
	}
	r.missed = true
	if all := contents(); !strings.Contains(all[1], "500000 events") {
		t.Errorf("events were not kept, but the file does not say so: %s", all[1])
	}
	r.interrupted("")
	files, _ := r.files(&traceOutput{trace: "x.json"})
	if data, err := files[0].content(); err == nil {
		t.Errorf("a run that was not kept was written: %s", data)
	}
}

func (r *recorder) storyText(t *testing.T) string {
	r.story = func(t *trace.Trace) string { return t.Title }
	files, err := r.files(&traceOutput{trace: "x.txt"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := files[0].content()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
