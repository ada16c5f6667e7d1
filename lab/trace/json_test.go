package trace_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/trace"
)

func roundTrip(t *testing.T, tr *trace.Trace) {
	t.Helper()
	b, err := tr.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := trace.ReadJSON(b)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	if !reflect.DeepEqual(tr, back) {
		t.Fatalf("%s is not what it was after writing and reading", tr.Title)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	roundTrip(t, trouble())
	for seed := range uint64(20) {
		roundTrip(t, random(seed, 5, 100))
	}
}

// The keys and the form of times are a promise to users.
func TestJSONKeys(t *testing.T) {
	s := newScript(2, "t")
	s.do(12, trace.Ask, 1)
	s.message(12, trace.Send, 1, 0, 1, "REQUEST")
	b, err := s.t.JSON()
	want := `{"title":"t","algorithm":"","processes":2,"kinds":["REQUEST","OK"],"unit":10,"events":[
{"step":0,"time":1.2,"kind":"ask","proc":2},
{"step":1,"time":1.2,"kind":"send","proc":2,"peer":1,"msg":1,"name":"REQUEST"}
]}
`
	if err != nil || string(b) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, b, want)
	}
}

func TestReadJSONErrors(t *testing.T) {
	wrap := func(events string) string { return `{"processes":2,"unit":10,"events":[` + events + `]}` }
	for _, c := range []struct{ in, want string }{
		{``, "unexpected end"},
		{`{"processes":2`, "unexpected end"},
		{`[]`, "cannot unmarshal"},
		{`{"processes":2,"events":[]} x`, "trailing data"},
		{`{"processes":2,"colour":"red"}`, `unknown field "colour"`},
		{`{"events":[]}`, "0 processes"},
		{`{"processes":2,"unit":3}`, "a unit of 3"},
		{wrap(`{"step":0,"time":0,"kind":"dance","proc":1}`), `event 0: unknown kind "dance"`},
		{wrap(`{"step":0,"time":0,"kind":"ask"}`), "event 0: ask at process 0"},
		{wrap(`{"step":0,"time":0,"kind":"ask","proc":3}`), "process 3: want 1 to 2"},
		{wrap(`{"step":0,"time":0.25,"kind":"ask","proc":1}`), "at most 1 decimals"},
		{wrap(`{"step":0,"time":-1,"kind":"ask","proc":1}`), `time "-1"`},
		{wrap(`{"step":0,"time":1e3,"kind":"ask","proc":1}`), `time "1e3"`},
		{wrap(`{"step":0,"time":9999999999999999999,"kind":"ask","proc":1}`), "number of units"},
		{wrap(`{"step":0,"kind":"ask","proc":1}`), `time ""`},
		{wrap(`{"step":0,"time":0,"kind":"ask","proc":1,"msg":4}`), "ask has no message"},
		{wrap(`{"step":0,"time":0,"kind":"ask","proc":1,"peer":2}`), "ask has no peer"},
		{wrap(`{"step":0,"time":0,"kind":"send","proc":1,"msg":1}`), "as its peer"},
		{wrap(`{"step":0,"time":0,"kind":"send","proc":1,"peer":2,"msg":1,"fields":{"a":1}}`), `field "a": want a string`},
		{wrap(`{"step":0,"time":0,"kind":"send","proc":1,"peer":2,"msg":1,"fields":[]}`), "want an object"},
	} {
		_, err := trace.ReadJSON([]byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant an error with %q", c.in, err, c.want)
		}
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, tr := range []*trace.Trace{trouble(), random(1, 3, 20), load(f, "ricart-agrawala-3")} {
		b, err := tr.JSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := trace.ReadJSON(data)
		if err != nil {
			return
		}
		once, err := tr.JSON()
		if err != nil {
			t.Fatalf("read, but not written: %v", err)
		}
		back, err := trace.ReadJSON(once)
		if err != nil {
			t.Fatalf("written, but not read: %v", err)
		}
		if again, err := back.JSON(); err != nil || !bytes.Equal(once, again) {
			t.Fatalf("%v: it changes when it is written again:\n%s\n%s", err, once, again)
		}
		if tr.N > 20 {
			return // correct, but slow to draw
		}
		tr.Text(trace.TextOptions{Fields: true, MaxRows: 10})
		tr.Story(trace.TextOptions{})
		tr.ShiViz()
		if err := wellFormed(tr.SVG(trace.Options{Focus: new(1)})); err != nil {
			t.Fatal(err)
		}
	})
}
