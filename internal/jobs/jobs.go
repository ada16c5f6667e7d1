// Package jobs makes many runs concurrently.
package jobs

import (
	"context"
	"runtime"
	"sync"
)

// Parallel configures how runs are made.
type Parallel struct {
	Workers  int                   // concurrent runs; 0 means one for each processor
	Progress func(done, total int) // called at first and after each run, by one goroutine at a time; may be nil
	Context  context.Context       // ends all when done: unfinished runs are left out; may be nil
}

// Over reports whether all should end.
func (p Parallel) Over() bool { return p.Context != nil && p.Context.Err() != nil }

// Do does the given number of jobs, several at a time. Each reports whether it was done.
// Do returns the error of the first job that has one.
func (p Parallel) Do(total int, job func(i int) (bool, error)) error {
	workers, progress := p.Workers, p.Progress
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	progress(0, total)
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	first, done := total, 0
	for range workers {
		wg.Go(func() {
			for i := range next {
				finished, err := job(i)
				mu.Lock()
				if err != nil && i < first {
					failed, first = err, i
				}
				if finished {
					done++
					progress(done, total)
				}
				mu.Unlock()
			}
		})
	}
	for i := range total {
		next <- i
	}
	close(next)
	wg.Wait()
	return failed
}
