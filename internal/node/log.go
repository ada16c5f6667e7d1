package node

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// maxLines is the maximum number of log lines that wait to be printed.
const maxLines = 10_000

// A printer prints log lines in a goroutine of its own, so that no part of a node ever
// waits for the reader of its log.
type printer struct {
	mu      sync.Mutex
	lines   []printed
	dropped int
	busy    bool            // the goroutine is running
	idle    chan struct{}   // closed when there is nothing to print; nil unless close waits
	lost    func(lines int) // reports lines that were dropped; nil: another line says so
}

// A printed is a log line and the handler that prints it.
type printed struct {
	slog.Handler
	slog.Record
}

// A handler hands log lines to a printer.
type handler struct {
	inner slog.Handler
	p     *printer
}

// logger returns a logger that prints through the handler of l and never blocks.
func (p *printer) logger(l *slog.Logger) *slog.Logger { return slog.New(handler{l.Handler(), p}) }

// Enabled implements slog.Handler.
func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.inner.Enabled(ctx, l) }

// Handle implements slog.Handler.
func (h handler) Handle(_ context.Context, r slog.Record) error {
	h.p.put(printed{h.inner, r.Clone()})
	return nil
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(all []slog.Attr) slog.Handler { return handler{h.inner.WithAttrs(all), h.p} }

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.inner.WithGroup(name), h.p} }

// put queues a line.
func (p *printer) put(l printed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines) >= maxLines {
		p.dropped++
		return
	}
	if p.lines = append(p.lines, l); !p.busy {
		p.busy = true
		go p.run()
	}
}

// run prints until there is nothing left.
func (p *printer) run() {
	for {
		p.mu.Lock()
		lines, dropped := p.lines, p.dropped
		p.lines, p.dropped = nil, 0
		if len(lines) == 0 {
			p.busy = false
			if p.idle != nil {
				close(p.idle)
				p.idle = nil
			}
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		for _, l := range lines {
			_ = l.Handle(context.Background(), l.Record) // there is nowhere else to report it
		}
		switch {
		case dropped > 0 && p.lost != nil:
			p.lost(dropped)
		case dropped > 0:
			last := lines[len(lines)-1]
			r := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped: the log is not read fast enough", 0)
			r.Add("lines", dropped)
			_ = last.Handle(context.Background(), r)
		}
	}
}

// flush waits until all lines are printed, but no longer than most.
func (p *printer) flush(most time.Duration) {
	p.mu.Lock()
	if !p.busy {
		p.mu.Unlock()
		return
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(most):
	}
}
