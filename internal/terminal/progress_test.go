package terminal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A line is written only a few times per second, and leaves nothing behind.
func TestStatusLine(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	l := &Progress{Context: t.Context(), release: func() {}, line: statusLine{w: &out, now: func() time.Time { return now }, last: now}}
	l.Bar(0, 80) // too early
	l.Clear()    // nothing to remove
	now = now.Add(redrawInterval)
	l.Bar(40, 80)
	l.Bar(41, 80) // too soon after the last
	l.Print(&out, "told")
	now = now.Add(redrawInterval)
	l.Show("%s", strings.Repeat("x", 100)) // no longer than the screen is wide
	l.End()
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
	l := &Progress{Context: t.Context(), release: func() {}, line: statusLine{now: time.Now}}
	l.Show("x")
	l.End()
}

// A report of an interrupted run says so, after what there is; what was found stays
// found.
func TestStoppedReport(t *testing.T) {
	var out bytes.Buffer
	wrong := Findings{[]string{"two inside"}}
	err := RunAndReport(&out, false, nil, func() (Outcome, error) {
		return Outcome{Text: func(p *Printer) { p.Line("3 messages") }, Stopped: "1 of 2 runs", Wrong: wrong}, nil
	})
	if want := "3 messages\n\nInterrupted after 1 of 2 runs: these are the results so far.\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	var u Unfinished
	if !errors.As(err, &u) || u.Why != "interrupted after 1 of 2 runs" || !errors.As(err, new(Findings)) {
		t.Errorf("got the error %v", err)
	}
}
