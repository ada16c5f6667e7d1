package page

import (
	"context"
	"sync"
	"testing"

	"github.com/stile-lock/stile/lab/web"
)

// A halting lab measures three cells of a comparison, and then waits until nobody listens.
type halting struct {
	bench
	once    sync.Once
	stopped chan struct{}
}

func (s *halting) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	if name != "compare" {
		return s.bench.Call(ctx, name, body, emit)
	}
	told := 0
	return s.bench.Call(ctx, name, body, func(line []byte) error {
		err := emit(line)
		if told++; err == nil && told == 4 { // the first line has no cell
			<-ctx.Done()
			s.once.Do(func() { close(s.stopped) })
		}
		return err
	})
}

// Cells of a comparison are there as soon as they are measured. Stopping it ends the
// work, and leaves what there is: a cell opens its run.
func TestCompareFills(t *testing.T) {
	t.Parallel()
	s := &halting{bench: bench{start: example(t, "raymond-a")}, stopped: make(chan struct{})}
	s.calls.Workers = 1
	v := &visit{page: open(t, serve(t, web.Handler(s)))}
	v.until(`document.querySelector(".count")?.innerText.match(/of [1-9]/)`)
	v.show("compare")
	v.press("Compare")
	v.says(".panel-compare [role=status]", "Measuring … 3 of ")
	if n := eval[int](v.page, `document.querySelectorAll(".compare-cell, .compare-skipped:not([aria-label])").length`); n != 3 {
		t.Errorf("%d cells are filled, want 3", n)
	}
	v.press("Stop")
	<-s.stopped
	v.says(".panel-compare [role=status]", "Stopped after 3 of ")
	eval[bool](v.page, `document.querySelector(".compare-cell").click(), true`)
	v.until(`!document.querySelector("dialog[open]") && document.querySelector("textarea").value.includes("the first entries of a run")`)
}
