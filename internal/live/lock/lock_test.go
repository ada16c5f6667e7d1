package lock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/live/member"
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
