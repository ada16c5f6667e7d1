package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// Every job is done once, and progress reports each of them.
func TestDo(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 50} {
		var done [20]atomic.Int32
		var told []int
		err := Parallel{Workers: workers, Progress: func(n, _ int) { told = append(told, n) }}.Do(len(done), func(i int) (bool, error) {
			done[i].Add(1)
			return i != 7, nil
		})
		if err != nil {
			t.Error(err)
		}
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Errorf("%d workers: job %d is done %d times", workers, i, n)
			}
		}
		if fmt.Sprint(told) != "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]" {
			t.Errorf("%d workers: one job is not finished, and told is %v", workers, told)
		}
	}
}

// The error is that of the first job, whichever comes first.
func TestFirstError(t *testing.T) {
	for _, workers := range []int{1, 4} {
		err := Parallel{Workers: workers}.Do(9, func(i int) (bool, error) {
			if i < 3 {
				return true, nil
			}
			return false, errors.New(fmt.Sprint(i))
		})
		if err == nil || err.Error() != "3" {
			t.Errorf("%d workers: the error is %v", workers, err)
		}
	}
}

func TestOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := Parallel{Context: ctx}
	if p.Over() || (Parallel{}).Over() {
		t.Error("over before anything is cancelled")
	}
	if cancel(); !p.Over() {
		t.Error("not over")
	}
}
