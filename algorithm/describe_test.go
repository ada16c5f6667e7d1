package algorithm

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/host"
)

func TestDescribe(t *testing.T) {
	s, m := allMachine(3)
	s.State, s.Seat, s.Seats, s.Members = 2, 1, []ID{2, 0}, SetOf(0, 2)
	s.Time, s.Stamp, s.Times = Time{42}, Stamp{Time{42}, 2}, []Time{{}, {7}, {}}
	want := []host.Field{
		{Name: "yes", Value: "no"}, {Name: "state", Value: "three"}, {Name: "count", Value: "0"}, {Name: "seat", Value: "2"}, {Name: "maybe", Value: "none"},
		{Name: "seats", Value: "3 1"}, {Name: "members", Value: "1 3"}, {Name: "time", Value: "42"}, {Name: "ticket", Value: "0"}, {Name: "stamp", Value: "<42,3>"},
		{Name: "times", Value: "0 7 0"}, {Name: "seq", Value: "0"}, {Name: "seqs", Value: "0 0 0"}, {Name: "anchors", Value: "0 0 0"}, {Name: "last", Value: "no"},
	}
	if got := m.Describe(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	got, err := m.DescribeMessage(encoded(&s.all, 3))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %v, %v\nwant %v", got, err, want)
	}
	if _, err := m.DescribeMessage(nil); !errors.Is(err, host.ErrMalformed) {
		t.Errorf("nothing was described as a message: %v", err)
	}
}

// Every field can be set to what Describe shows, and to what a person writes.
func TestAssign(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"yes", "yes", "yes"}, {"state", "two", "two"}, {"count", "1000", "1000"},
		{"seat", "3", "3"}, {"seat", "P3", "3"}, {"maybe", "2", "2"}, {"maybe", "none", "none"},
		{"seats", "3 1", "3 1"}, {"seats", "P2", "2"}, {"seats", "none", "none"},
		{"members", "3 1", "1 3"}, {"members", "none", "none"},
		{"time", "7", "7"}, {"ticket", "7", "7"}, {"stamp", "<42,3>", "<42,3>"}, {"stamp", "42,3", "<42,3>"}, {"stamp", "none", "none"},
		{"times", "1 2 3", "1 2 3"}, {"seq", "9", "9"}, {"seqs", "4 5 6", "4 5 6"}, {"anchors", "4 5 6", "4 5 6"},
	} {
		s, m := allMachine(3)
		s.Maybe, s.Seats, s.Members, s.Stamp = 1, []ID{1}, SetOf(1), Stamp{Time{1}, 1}
		if err := m.Assign(c.name, c.text); err != nil {
			t.Errorf("%s = %s: %v", c.name, c.text, err)
			continue
		}
		fields := m.Describe()
		i := slices.IndexFunc(fields, func(f host.Field) bool { return f.Name == c.name })
		if fields[i].Value != c.want {
			t.Errorf("%s = %s: got %s, want %s", c.name, c.text, fields[i].Value, c.want)
		}
	}
}

func TestAssignRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"yes", "maybe", "want yes or no"}, {"state", "four", "want one or two or three"},
		{"count", "1001", "want a number from 0 to 1000"}, {"count", "-1", "want a number"},
		{"seat", "none", "want a process, 1 to 3"}, {"seat", "4", "want a process, 1 to 3"}, {"seat", "0", "want a process"},
		{"maybe", "nobody", "want a process"}, {"seats", "1 4", "want a process"}, {"seats", "1 2 1", "process 1 is listed twice"},
		{"members", "1,2", "want a process"}, {"members", "2 2", "process 2 is listed twice"},
		{"time", "4611686018427387904", "want a number from 0 to 4611686018427387903"},
		{"stamp", "42", "want none or a stamp such as <42,3>"}, {"stamp", "<0,3>", "want none or a stamp"}, {"stamp", "<42,4>", "want a process, 1 to 3"},
		{"times", "1 2", "want 3 numbers"}, {"times", "1 2 x", `"x" is not a number`}, {"seqs", "1 2 4611686018427387904", "is not a number from 0"},
		{"colour", "red", `no field "colour": there are yes, state,`},
		{"rest seq", "1", `no field "rest seq"`},
	} {
		_, m := allMachine(3)
		before := m.AppendState(nil)
		err := m.Assign(c.name, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: got %v, want an error with %q", c.name, c.text, err, c.want)
		}
		if !bytes.Equal(m.AppendState(nil), before) {
			t.Errorf("%s = %s was refused, but changed the state", c.name, c.text)
		}
	}
}

// Fields that exist no more because of another are cleared at once.
func TestAssignClears(t *testing.T) {
	s, m := allMachine(3)
	s.Yes, s.Rest.Seq = true, 5
	if err := m.Assign("yes", "no"); err != nil {
		t.Fatal(err)
	}
	if s.Rest.Seq != 0 {
		t.Errorf("a counter that does not exist is %d", s.Rest.Seq)
	}
	for _, f := range []host.Field{{Name: "yes", Value: "yes"}, {Name: "rest seats", Value: "2 1"}, {Name: "rest seq", Value: "6"}} {
		if err := m.Assign(f.Name, f.Value); err != nil {
			t.Fatal(err)
		}
	}
	if s.Rest.Seq != 6 || !slices.Equal(s.Rest.Seats, []ID{1, 0}) {
		t.Errorf("got %+v", s.Rest)
	}
}

// A state that is none of those that have names is shown, too.
func TestDescribeNameless(t *testing.T) {
	v := uint8(7)
	c := Coder{mode: describe}
	c.Uint8("state", &v, "idle", "waiting")
	if got := c.fields; len(got) != 1 || got[0] != (host.Field{Name: "state", Value: "7"}) {
		t.Errorf("shown as %v", got)
	}
}
