package script_test

import (
	"reflect"
	"testing"

	"github.com/stile-lock/stile/internal/script"
)

// What a run begins with is read, and written as it is read.
func TestBegin(t *testing.T) {
	text := "algorithm central\nprocesses 3\nschedule steps\nbegin P1 inside\nbegin 2 -> 1 REQUEST 00ff\nbegin P2 waits 0102\nset P2 clock 4\n"
	s, err := script.Parse("", text)
	if err != nil {
		t.Fatal(err)
	}
	want := []script.Beginning{
		{Phase: script.Inside, Line: 4},
		{Proc: 1, Message: "REQUEST", Bytes: []byte{0, 255}, Line: 5},
		{Proc: 1, Phase: script.Waits, State: []byte{1, 2}, Line: 6},
	}
	if !reflect.DeepEqual(s.Begin, want) {
		t.Errorf("%+v", s.Begin)
	}
	if got := script.Format(s); got != text {
		t.Errorf("written as\n%s", got)
	}
	for _, bad := range []script.Beginning{{Proc: 3}, {Proc: -1}, {Message: "A", Peer: 1}, {Message: "A", Bytes: []byte{1}}, {Proc: 1, Message: "A", Peer: 9, Bytes: []byte{1}}} {
		x := *s
		x.Begin = []script.Beginning{bad}
		if x.Check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
