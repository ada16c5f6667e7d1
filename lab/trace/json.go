package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// The keys are part of the public interface: add to them, never change them.

type jsonTrace struct {
	Title     string            `json:"title"`
	Algorithm string            `json:"algorithm"`
	Processes int               `json:"processes"`
	Kinds     []string          `json:"kinds"`
	Unit      int64             `json:"unit"`
	Called    string            `json:"unit_name,omitempty"` // name of the unit, if not T
	Names     []string          `json:"names,omitempty"`     // names of the lanes, if not P1, P2, ...
	Waiting   string            `json:"waiting,omitempty"`   // meaning of the bars, if not the usual one
	Inside    string            `json:"inside,omitempty"`
	Events    []json.RawMessage `json:"events"`
}

type jsonEvent struct {
	Step   int         `json:"step"`
	Time   json.Number `json:"time"` // in units
	Kind   string      `json:"kind"`
	Proc   int         `json:"proc,omitempty"` // from 1
	Peer   int         `json:"peer,omitempty"` // from 1
	Msg    int         `json:"msg,omitempty"`
	Name   string      `json:"name,omitempty"`
	Fields jsonFields  `json:"fields,omitempty"`
	Words  string      `json:"words,omitempty"` // how a property was violated

	Section string `json:"section,omitempty"`

	Why []Why `json:"why,omitempty"` // the rules by which the process decided, if they were recorded
}

// jsonFields is an object whose keys keep their order.
type jsonFields []host.Field

// JSON encodes the trace, with one event per line. Times are in units, and processes are
// numbered from 1. The error says what is impossible in a trace.
func (t *Trace) JSON() ([]byte, error) {
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("cannot write the trace: %w", err)
	}
	kinds := t.Kinds
	if kinds == nil {
		kinds = []string{}
	}
	head, err := encode(jsonTrace{t.Title, t.Algorithm, t.N, kinds, t.unit(), t.Called, t.Names, t.Waiting, t.Inside, []json.RawMessage{}})
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(bytes.TrimSuffix(head, []byte("]}")))
	for i := range t.Events {
		line, err := encode(t.Events[i].json(t.unit()))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

// encode leaves <, > and & as they are, because stamps look like <2,1>.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func (e *Event) json(unit int64) jsonEvent {
	j := jsonEvent{
		Step: e.Step, Time: json.Number(decimal(e.At, unit)), Kind: e.Kind.String(),
		Proc: int(e.Proc) + 1, Name: e.Name, Fields: e.Fields, Words: e.Words, Section: e.Section, Why: e.Why,
	}
	if e.Kind.peer() || e.Kind == Violation {
		j.Peer = int(e.Peer) + 1
	}
	if e.Kind.message() {
		j.Msg = e.Msg
	}
	return j
}

// MarshalJSON encodes the fields as one object, in their order.
func (fs jsonFields) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := encode(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := encode(f.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON decodes an object of strings.
func (fs *jsonFields) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	*fs = nil
	if start, err := d.Token(); err != nil || start == nil {
		return err
	} else if start != json.Delim('{') {
		return errors.New(`fields: want an object such as {"time": "1"}`)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		value, err := d.Token()
		if err != nil {
			return err
		}
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("field %q: want a string", name)
		}
		*fs = append(*fs, host.Field{Name: name.(string), Value: text})
	}
	return nil
}

// ReadJSON decodes the output of JSON. Whatever the bytes are, it returns a trace that
// Check accepts, or an error that says where it is wrong.
func ReadJSON(data []byte) (*Trace, error) {
	var j jsonTrace
	if err := strict(data, &j); err != nil {
		return nil, fmt.Errorf("this is not a trace: %w", err)
	}
	t := &Trace{N: j.Processes, Title: j.Title, Algorithm: j.Algorithm, Kinds: j.Kinds, Unit: j.Unit, Called: j.Called, Names: j.Names, Waiting: j.Waiting, Inside: j.Inside}
	if !unitOK(t.Unit) {
		return nil, fmt.Errorf("this is not a trace: %w", t.Check())
	}
	for i, raw := range j.Events {
		var e jsonEvent
		err := strict(raw, &e)
		if err == nil {
			var event Event
			event, err = e.event(t.unit())
			t.Events = append(t.Events, event)
		}
		if err != nil {
			return nil, fmt.Errorf("this is not a trace: event %d: %w", i, err)
		}
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("this is not a trace: %w", err)
	}
	return t, nil
}

// strict decodes one value with known keys, and nothing after it.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("unexpected end of input")
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("it has trailing data")
	}
	return nil
}

func (j *jsonEvent) event(unit int64) (Event, error) {
	kind, ok := parseKind(j.Kind)
	if !ok {
		return Event{}, fmt.Errorf("unknown kind %q: want ask, enter, exit, send, receive or another of trace.Kind", j.Kind)
	}
	at, err := ticks(string(j.Time), unit)
	if err != nil {
		return Event{}, err
	}
	e := Event{
		Step: j.Step, At: at, Kind: kind, Proc: algorithm.ID(j.Proc - 1), Peer: algorithm.ID(j.Peer - 1),
		Msg: j.Msg, Name: j.Name, Fields: j.Fields, Words: j.Words, Section: j.Section, Why: j.Why,
	}
	if j.Msg != 0 && !kind.message() {
		return Event{}, fmt.Errorf("%v has no message, but is given number %d", kind, j.Msg)
	}
	if j.Peer != 0 && !kind.peer() && kind != Violation {
		return Event{}, fmt.Errorf("%v has no peer, but is given process %d", kind, j.Peer)
	}
	if j.Peer == 0 && !kind.peer() && kind != Violation {
		e.Peer = 0 // as hosts leave it
	}
	return e, nil
}

// ticks parses a time in units, exactly.
func ticks(s string, unit int64) (int64, error) {
	whole, rest, _ := strings.Cut(s, ".")
	digits := len(strconv.FormatInt(unit, 10)) - 1
	rest = strings.TrimRight(rest, "0")
	bad := fmt.Errorf("time %q: want a number of units from 0, with at most %d decimals", s, digits)
	if len(rest) > digits {
		return 0, bad
	}
	w, err := strconv.ParseUint(whole, 10, 62)
	if err != nil || int64(w) > maxTicks/unit {
		return 0, bad
	}
	f, err := strconv.ParseUint("0"+rest+strings.Repeat("0", digits-len(rest)), 10, 62)
	if err != nil {
		return 0, bad
	}
	return int64(w)*unit + int64(f), nil
}
