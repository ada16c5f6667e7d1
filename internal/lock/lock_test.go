package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/member"
)

// A hold ends once, and its context ends with it, whichever comes first and however
// many ask.
func TestEnd(t *testing.T) {
	for range 500 {
		var e End
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				ctx := e.Context()
				<-ctx.Done()
				if cause := context.Cause(ctx); cause != e.Err() {
					t.Errorf("the context ends with %v, the hold with %v", cause, e.Err())
				}
			})
		}
		all.Go(func() { e.Lose("x", member.Lease) })
		all.Go(e.Release)
		all.Wait()
		if err := e.Err(); errors.Is(err, ErrLost) == errors.Is(err, ErrReleased) {
			t.Errorf("it ends with %v", err)
		}
		if e.Context().Err() == nil {
			t.Error("a context that is asked for late does not end")
		}
	}
}

// A lock whose transaction must abort is still held; only its context ends.
func TestDoom(t *testing.T) {
	for _, early := range []bool{true, false} {
		var e End
		var ctx context.Context
		if early {
			ctx = e.Context()
		}
		d := &Deadlock{Why: "a cycle"}
		e.Doom(d)
		e.Doom(&Deadlock{})
		if !early {
			ctx = e.Context()
		}
		if cause := context.Cause(ctx); cause != d || !errors.Is(cause, ErrDeadlock) || e.Err() != nil {
			t.Errorf("%v, and the hold %v", cause, e.Err())
		}
		e.Release()
		if !errors.Is(e.Err(), ErrReleased) {
			t.Error("it is not released")
		}
	}
}

// Only a request outside of transactions is made again, and as old as before.
func TestAgain(t *testing.T) {
	err := fmt.Errorf("lock: %w", &Deadlock{Born: 7})
	var plain, part Options
	part.Tx = 1
	if !plain.Again(t.Context(), err, 0) || plain.Born != 7 || part.Again(t.Context(), err, 0) || plain.Again(t.Context(), ErrBusy, 0) || plain.Again(t.Context(), nil, 0) {
		t.Errorf("%+v, %+v", plain, part)
	}
	doomed, cancel := context.WithCancelCause(t.Context())
	cancel(err)
	if plain.Again(doomed, Done(doomed), 0) {
		t.Error("it is made again though its context has ended, because another transaction must abort")
	}
}

// Every cause of a loss has a text.
func TestCauses(t *testing.T) {
	if len(causes) != int(member.Changed)+1 || slices.Contains(causes[:], "") {
		t.Errorf("%q", causes)
	}
	if Lost("x", member.Ended) == nil || Lost("x", 200) == nil { // which are no causes of losses
		t.Error("no error")
	}
}

// A deadline has no monotonic reading: after the machine was suspended it is compared
// by the wall clock.
func TestDeadline(t *testing.T) {
	d := Deadline(time.Hour)
	if d != d.Round(0) {
		t.Errorf("%v has a monotonic reading", d)
	}
	if left := time.Until(d); left < 59*time.Minute || left > time.Hour {
		t.Errorf("%v left of an hour", left)
	}
}
