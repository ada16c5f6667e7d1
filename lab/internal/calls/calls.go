// Package calls answers everything that a page asks of the lab, as JSON. A server and a
// worker that runs in the page share this dispatch, so that both return the same bytes.
package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/document"
)

// Calls answers calls. The zero value has the catalog's algorithms.
type Calls struct {
	document.Options               // Specs: how an algorithm is found
	Start            string        // text that the page opens with; empty for the gallery
	Time             time.Duration // maximum duration of a check or a comparison; 0 means LongTime
	Memory           int64         // maximum memory of a check, in bytes; 0 means a gigabyte
	Workers          int           // goroutines of a check or a comparison; 0 means one for each core

	own []algorithm.Spec // algorithms besides those of the catalog
	now func() time.Time // clock; nil means the machine's
}

// Limits of a call.
const (
	MaxBody  = 4 << 20          // bytes of a request: a text of document.MaxText, however it is quoted
	CallTime = 30 * time.Second // maximum duration
	LongTime = time.Hour        // maximum duration of a check or a comparison, which reports progress
)

// With returns calls that know the given algorithms besides those of the catalog. An
// algorithm with the name of one of the catalog's replaces it. They have no options.
func With(own ...algorithm.Spec) *Calls {
	find := func(name string, o algorithm.Options) (algorithm.Spec, error) {
		if i := named(own, name); i >= 0 {
			return own[i], catalog.Refuse(name, o)
		}
		return catalog.Make(name, o)
	}
	return &Calls{Options: document.Options{Specs: find}, own: own}
}

// named returns the index of the algorithm with that name; -1 if there is none.
func named(list []algorithm.Spec, name string) int {
	return slices.IndexFunc(list, func(s algorithm.Spec) bool { return s.Name == name })
}

// An answer passes the lines of an answer to emit.
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

// Call answers one call. It passes the answer to emit, on one line, or on several lines
// one after the other if the call reports progress. An error in the call or the text is
// an answer, too: {"error":{"line":3,"col":5,"text":"..."}}. The returned error is that
// of emit, or that ctx is done.
func (c *Calls) Call(ctx context.Context, name string, body []byte, emit func(line []byte) error) error {
	within, cancel := c.clocked(ctx, c.limit(name))
	defer cancel()
	var failed error
	say := func(v any) error {
		if failed != nil {
			return failed // the listener is gone
		}
		line, err := document.Encode(v)
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
			Error *document.Error `json:"error"`
		}{wrong(err)})
	}
	return nil
}

// Streams are the calls that may take long and therefore report progress.
func Streams() []string { return []string{"check", "compare"} }

// limit returns the maximum duration of a call.
func (c *Calls) limit(name string) time.Duration {
	switch {
	case !slices.Contains(Streams(), name):
		return CallTime
	case c.Time > 0:
		return c.Time
	}
	return LongTime
}

func (c *Calls) answer(ctx context.Context, name string, body []byte, say func(v any) error) error {
	names, answers := c.all()
	i := slices.Index(names, name)
	switch {
	case i < 0:
		return fmt.Errorf("unknown call %q: want %s%s", name, spell.Either(names...), spell.DidYouMean(name, names...))
	case len(body) > MaxBody:
		return fmt.Errorf("a call of %s bytes: want at most %s; shorten the scenario, or run it with 'stile-lab replay'", words.Grouped(len(body)), words.Grouped(MaxBody))
	}
	return answers[i](ctx, body, say)
}

// wrong adds the position of an error, if known.
func wrong(err error) *document.Error {
	var at *document.Error
	if errors.As(err, &at) {
		return at
	}
	return &document.Error{Text: err.Error()}
}

// read parses the body of a call: one JSON object, or nothing.
func read(body []byte, into any) error {
	if body = bytes.TrimSpace(body); len(body) == 0 {
		return nil
	}
	why := ""
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if body[0] != '{' {
		why = "it is not an object"
	} else if err := d.Decode(into); err != nil {
		why = unread(err)
	} else if _, err := d.Token(); err != io.EOF {
		why = "it has trailing data"
	}
	if why != "" {
		return fmt.Errorf("cannot read the call: %s: want one JSON object with the call's keys", why)
	}
	return nil
}

// unread says what is wrong with JSON, without naming Go types.
func unread(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return fmt.Sprintf("%s cannot be a %s", kind.Field, kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected end of input"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func (c *Calls) start(_ context.Context, body []byte, say func(v any) error) error {
	if err := read(body, &struct{}{}); err != nil {
		return err
	}
	return say(map[string]string{"text": c.Start})
}

// within returns options that end a run when the time of its call is up.
func (c *Calls) within(ctx context.Context) document.Options {
	o := c.Options
	o.Over = func() bool { return ctx.Err() != nil }
	return o
}

type runCall struct {
	Text    string `json:"text"`
	Spacing string `json:"spacing"`
	File    string `json:"file"`
}

func (c *Calls) run(ctx context.Context, body []byte, say func(v any) error) error {
	var in runCall
	if err := read(body, &in); err != nil {
		return err
	}
	if !slices.Contains([]string{"", document.ByEvent, document.ByTime}, in.Spacing) {
		return fmt.Errorf("unknown spacing %q: want %s", in.Spacing, spell.Either(document.ByEvent, document.ByTime))
	}
	o := c.within(ctx)
	o.Spacing, o.File = in.Spacing, in.File
	d := document.Run(in.Text, o)
	if d.Error != nil {
		return d.Error
	}
	return say(d)
}

type actCall struct {
	Text       string              `json:"text"`
	Event      int                 `json:"event"`
	UserAction document.UserAction `json:"deed"`
}

func (c *Calls) act(ctx context.Context, body []byte, say func(v any) error) error {
	var in actCall
	if err := read(body, &in); err != nil {
		return err
	}
	if in.Event < 0 {
		return fmt.Errorf("a cursor after %d events: want 0 or more", in.Event)
	}
	o := c.within(ctx)
	e, err := document.Act(in.Text, o, in.Event, in.UserAction)
	if err != nil {
		return err
	}
	return say(e)
}

func (c *Calls) fresh(ctx context.Context, body []byte, say func(v any) error) error {
	var in document.Wish
	if err := read(body, &in); err != nil {
		return err
	}
	o := c.within(ctx)
	text, err := document.Fresh(in, o)
	if err != nil {
		return err
	}
	return say(map[string]string{"text": text})
}

type exportCall struct {
	Text string `json:"text"`
	As   string `json:"as"`
}

func (c *Calls) export(ctx context.Context, body []byte, say func(v any) error) error {
	var in exportCall
	if err := read(body, &in); err != nil {
		return err
	}
	o := c.within(ctx)
	e, err := document.ExportAs(in.Text, in.As, o)
	if err != nil {
		return err
	}
	return say(e)
}
