package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
)

// newLogger returns a logger that writes text or JSON.
func newLogger(w io.Writer, format, level string) *slog.Logger {
	var from slog.Level
	_ = from.UnmarshalText([]byte(level)) // the flag allows only valid levels
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: from, ReplaceAttr: durationsAsText}))
	}
	return slog.New(&textHandler{out: &lockedWriter{w: w}, from: from})
}

// durationsAsText has durations written like 1.5s, and not as numbers of nanoseconds.
func durationsAsText(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// A textHandler is a slog.Handler for readable text: time, level, message, attributes.
type textHandler struct {
	out    *lockedWriter
	from   slog.Level
	attrs  string
	prefix string // of groups
}

// A lockedWriter is shared by all handlers derived from one another.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Enabled implements slog.Handler.
func (p *textHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= p.from }

// Handle implements slog.Handler.
func (p *textHandler) Handle(_ context.Context, r slog.Record) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %-5s %s", r.Time.Format("2006-01-02 15:04:05.000"), r.Level, r.Message)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(p.word(a))
		return true
	})
	b.WriteString(p.attrs + "\n") // last: all lines have these
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	_, err := p.out.w.Write(b.Bytes())
	return err
}

// word formats an attribute.
func (p *textHandler) word(a slog.Attr) string {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		inner := &textHandler{prefix: p.prefix + a.Key + "."}
		var all strings.Builder
		for _, x := range v.Group() {
			all.WriteString(inner.word(x))
		}
		return all.String()
	}
	text := v.String()
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' || !strconv.IsPrint(r) }) {
		text = strconv.Quote(text)
	}
	return " " + p.prefix + a.Key + "=" + text
}

// WithAttrs implements slog.Handler.
func (p *textHandler) WithAttrs(all []slog.Attr) slog.Handler {
	q := *p
	for _, a := range all {
		q.attrs += p.word(a)
	}
	return &q
}

// WithGroup implements slog.Handler.
func (p *textHandler) WithGroup(name string) slog.Handler {
	q := *p
	if name != "" {
		q.prefix += name + "."
	}
	return &q
}
