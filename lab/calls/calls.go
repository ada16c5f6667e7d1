// Package calls is all that a page asks of the lab, as JSON: one dispatch for a
// server and for a worker that runs in the page, so that both give the same
// bytes.
package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/lab"
)

// Calls answers calls. The zero value has the catalog's algorithms.
type Calls struct {
	lab.Options               // Specs: how an algorithm is found
	Start       string        // the text that the page opens with; empty for the gallery
	Time        time.Duration // that a call may take at most; 0 means a minute
	Memory      int64         // bytes that a check may take; 0 means a gigabyte
	Workers     int           // goroutines of a check or a comparison; 0 means one for each core

	own []core.Spec      // algorithms beside those of the catalog
	now func() time.Time // the clock; nil means that of the machine
}

// With returns calls that know algorithms of one's own beside those of the catalog.
// One that is called as one of the catalog's goes before it.
func With(own ...core.Spec) *Calls {
	find := func(name string, o core.Options) (core.Spec, error) {
		for _, s := range own {
			if s.Name == name {
				return s, nil
			}
		}
		return catalog.Make(name, o)
	}
	return &Calls{Options: lab.Options{Specs: find}, own: own}
}

// MaxBody is how many bytes a call may have.
const MaxBody = lab.MaxText + 1<<16

// An answer gives the lines of an answer to emit.
type answer func(ctx context.Context, body []byte, emit func(v any) error) error

func (c *Calls) all() ([]string, []answer) {
	return []string{"start", "run", "act", "fresh", "gallery", "algorithms", "export", "check", "compare"},
		[]answer{c.start, c.run, c.act, c.fresh, c.gallery, c.algorithms, c.export, c.check, c.compare}
}

// Names lists the calls.
func Names() []string {
	names, _ := (&Calls{}).all()
	return names
}

// Call answers one call: emit is given the answer, on one line, or several one
// after the other if the call tells how far it is. What is wrong with the call or
// the text is an answer, too: {"error":{"line":3,"col":5,"text":"..."}}. The
// error is that of emit, or that ctx is over.
func (c *Calls) Call(ctx context.Context, name string, body []byte, emit func(line []byte) error) error {
	limit := c.Time
	if limit <= 0 {
		limit = time.Minute
	}
	within, cancel := c.limit(ctx, limit)
	defer cancel()
	var failed error
	say := func(v any) error {
		line, err := encode(v)
		if err == nil {
			err = emit(line)
		}
		if err != nil {
			failed = err
		}
		return err
	}
	err := c.answer(within, name, body, say)
	switch {
	case failed != nil:
		return failed
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return say(struct {
			Error *lab.Error `json:"error"`
		}{wrong(err)})
	}
	return nil
}

func (c *Calls) answer(ctx context.Context, name string, body []byte, say func(v any) error) error {
	names, answers := c.all()
	i := slices.Index(names, name)
	switch {
	case i < 0:
		return fmt.Errorf("unknown call %q: want %s%s", name, spell.Either(names...), spell.DidYouMean(name, names...))
	case len(body) > MaxBody:
		return fmt.Errorf("a call of %d bytes: want at most %d", len(body), MaxBody)
	}
	return answers[i](ctx, body, say)
}

// wrong says where an error is, if that is known.
func wrong(err error) *lab.Error {
	var at *lab.Error
	if errors.As(err, &at) {
		return at
	}
	return &lab.Error{Text: err.Error()}
}

// encode writes JSON on one line, angle brackets as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// read reads what a call is given.
func read(body []byte, into any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("this call cannot be read: %w: want one JSON object with the keys of the call", err)
	}
	return nil
}

func (c *Calls) start(_ context.Context, body []byte, say func(v any) error) error {
	if err := read(body, &struct{}{}); err != nil {
		return err
	}
	return say(map[string]string{"text": c.Start})
}

// runTime is what a run may take: a page waits for it.
const runTime = 10 * time.Second

// within returns options that end a run in time.
func (c *Calls) within(ctx context.Context) (lab.Options, context.CancelFunc) {
	o := c.Options
	ctx, cancel := c.limit(ctx, runTime)
	o.Over = func() bool { return ctx.Err() != nil }
	return o, cancel
}

func (c *Calls) run(ctx context.Context, body []byte, say func(v any) error) error {
	var in struct {
		Text    string `json:"text"`
		Spacing string `json:"spacing"`
		File    string `json:"file"`
	}
	if err := read(body, &in); err != nil {
		return err
	}
	o, cancel := c.within(ctx)
	defer cancel()
	o.Spacing, o.File = in.Spacing, in.File
	d := lab.Run(in.Text, o)
	if d.Error != nil {
		return d.Error
	}
	return say(d)
}

func (c *Calls) act(ctx context.Context, body []byte, say func(v any) error) error {
	var in struct {
		Text  string   `json:"text"`
		Event int      `json:"event"`
		Deed  lab.Deed `json:"deed"`
	}
	if err := read(body, &in); err != nil {
		return err
	}
	o, cancel := c.within(ctx)
	defer cancel()
	e, err := lab.Act(in.Text, o, in.Event, in.Deed)
	if err != nil {
		return err
	}
	return say(e)
}

func (c *Calls) fresh(ctx context.Context, body []byte, say func(v any) error) error {
	var in lab.Wish
	if err := read(body, &in); err != nil {
		return err
	}
	o, cancel := c.within(ctx)
	defer cancel()
	text, err := lab.Fresh(in, o)
	if err != nil {
		return err
	}
	return say(map[string]string{"text": text})
}

func (c *Calls) export(ctx context.Context, body []byte, say func(v any) error) error {
	var in struct {
		Text string `json:"text"`
		As   string `json:"as"`
	}
	if err := read(body, &in); err != nil {
		return err
	}
	o, cancel := c.within(ctx)
	defer cancel()
	e, err := lab.ExportAs(in.Text, in.As, o)
	if err != nil {
		return err
	}
	return say(e)
}
