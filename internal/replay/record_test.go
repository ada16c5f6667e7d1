package replay

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

var update = flag.Bool("update", false, "rewrite the recording in testdata")

// small is the recording in the repository, of a node that founds a cluster.
const small = "testdata/small.rec"

func replay(t *testing.T, b []byte, o Options) *Result {
	t.Helper()
	r, err := Replay(bytes.NewReader(b), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A recording replays without a difference.
func TestReplay(t *testing.T) {
	a, b := live(t)
	for _, recording := range [][]byte{a, b} {
		r := replay(t, recording, options())
		if r.Differs != nil {
			t.Errorf("%s: %+v", r.Header.Begin.Name, r.Differs)
		}
		if r.Torn || r.Stopped || r.Failed != "" || r.End != "the node has ended" || r.Granted < 1 || r.Views < 1 || r.Process == nil {
			t.Errorf("%s: %+v", r.Header.Begin.Name, r)
		}
	}
}

// The recording in the repository replays without a difference, and is what is recorded
// today: a change of what a node does must be seen here. With -update it is made anew.
func TestRecordingOfTheRepository(t *testing.T) {
	a, _ := live(t)
	if *update {
		if err := os.WriteFile(small, a, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	r := replay(t, b, options())
	if r.Differs != nil {
		t.Errorf("%+v\nif that is intended, run this test with -update", r.Differs)
	}
	if !bytes.Equal(a, b) {
		t.Error("it is not what is recorded today: run this test with -update")
	}
	for k, n := range r.ByKind {
		if n == 0 {
			t.Errorf("it has no %v", process.Kind(k))
		}
	}
}

// Every field of every input is written and read back.
func TestInputs(t *testing.T) {
	token := member.Token{Epoch: 3, Count: 4}
	all := []process.Input{
		{Kind: process.Start}, {Kind: process.Leave}, {Kind: process.Stop}, {Kind: process.Wake}, {Kind: process.Refresh},
		{Kind: process.Up, Text: "a"}, {Kind: process.Down, Text: "a"},
		{Kind: process.Message, Text: "a", Bytes: []byte("b")},
		{Kind: process.Frame, Number: 5, Bytes: []byte("b")}, {Kind: process.Closed, Number: 5},
		{Kind: process.Lock, Text: "x"}, {Kind: process.Lock, Text: "x", Try: true}, {Kind: process.Lock, Text: "x", Late: 77},
		{Kind: process.Cancel, Number: 6}, {Kind: process.Unlock, Text: "x", Token: token}, {Kind: process.Release, Text: "x\xff", Token: token},
		{Kind: process.Saved, Number: 7}, {Kind: process.Saved, Number: 7, Text: "full"},
		{Kind: process.Evict, Number: 8}, {Kind: process.Resize, Number: 9}, {Kind: process.Move, Number: 1 << 60},
		{Kind: process.Opened, Number: 5, Text: "client/a"}, {Kind: process.Opened, Number: 5, Quota: session.Quota{Sessions: 1, Locks: 2, Names: 3}},
		{Kind: process.Trail, Text: "x", Late: 88}, {Kind: process.Recall},
		{Kind: process.Choose}, {Kind: process.Choose, Choice: []member.Choice{{Prefix: "p", Algorithm: "a", Version: -1}, {}}},
	}
	w := NewWriter(&Header{Begin: process.Begin{Settings: settings()}})
	seen := [process.Kinds]bool{}
	for i := range all {
		seen[all[i].Kind], all[i].At = true, member.Instant(100-i)
		w.Took(&all[i], &process.Output{Wake: member.Never})
	}
	for k, ok := range seen {
		if !ok {
			t.Errorf("%v is not tried", process.Kind(k))
		}
	}
	d, err := NewReader(bytes.NewReader(w.B))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range all {
		var e Entry
		if err := d.Next(&e); err != nil || !reflect.DeepEqual(e.In, want) || !reflect.DeepEqual(e.Out, Outcome{Wake: member.Never}) {
			t.Errorf("got %+v, want %+v: %v", e, want, err)
		}
	}
}

// Everything that a process begins with is written and read back.
func TestHeader(t *testing.T) {
	want := Header{
		By: "stile 1", Wall: -1, Specs: []Spec{{"central", 2}}, Election: 3, Heartbeat: 4, MaxLog: 5,
		Begin: process.Begin{
			Name: "a", Address: "b", Contacts: []string{"c", "d"}, Join: []string{"d"}, Cluster: 6, Seed: [32]byte{7, 31: 8}, State: []byte("state"), Past: []byte("past"), Settings: settings(),
			Limits: member.Limits{Waiters: 9, Names: 10, Idle: 11, Part: 17}, Links: member.LinkLimits{Bytes: 12, Window: 18, Early: 13, Patience: 14, Complain: 15}, Sessions: 16,
			Found:   &process.Founding{Cluster: 17, Epoch: 18, Settings: settings(), Voters: 19, Choices: choice()},
			Restore: &process.Restoring{Cluster: 20, Backup: []byte("record"), Seen: 21, Clock: 22},
		},
	}
	filled(t, "Header", reflect.ValueOf(want))
	d, err := NewReader(bytes.NewReader(NewWriter(&want).B))
	if err != nil || !reflect.DeepEqual(d.Header, want) {
		t.Errorf("got %+v, want %+v: %v", d, want, err)
	}
}

// filled fails the test if a field is empty: it was added, and is not tried.
func filled(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			filled(t, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Pointer:
		filled(t, name, v.Elem())
	default:
		if v.IsZero() && name != "Header.Begin.Found.Choices.Prefix" {
			t.Errorf("%s is not tried", name)
		}
	}
}

// A difference shows in the digest of its class, and in no other.
func TestDigests(t *testing.T) {
	record := views.Record{Epoch: 1}
	other := views.Record{Epoch: 2}
	for _, c := range []struct {
		class class
		a, b  process.Effect
	}{
		{notifications, process.Effect{Kind: process.Notify}, process.Effect{Kind: process.Notify, Event: member.Event{Ticket: 1}}},
		{notifications, process.Effect{Kind: process.Notify}, process.Effect{Kind: process.Notify, Event: member.Event{Kind: member.Lost}}},
		{notifications, process.Effect{Kind: process.Notify}, process.Effect{Kind: process.Notify, Event: member.Event{Cause: member.Lease}}},
		{notifications, process.Effect{Kind: process.Notify}, process.Effect{Kind: process.Notify, Event: member.Event{Token: member.Token{Epoch: 1}}}},
		{notifications, process.Effect{Kind: process.Notify}, process.Effect{Kind: process.Notify, Event: member.Event{Token: member.Token{Count: 1}}}},
		{changes, process.Effect{Kind: process.View, Record: &record}, process.Effect{Kind: process.View, Record: &other}},
		{changes, process.Effect{Kind: process.Ended, How: views.Left}, process.Effect{Kind: process.Ended, How: views.Evicted}},
		{sends, process.Effect{Kind: process.Send, To: "a", Bytes: []byte("b")}, process.Effect{Kind: process.Send, To: "ab"}},
		{replies, process.Effect{Kind: process.Reply, Conn: 1}, process.Effect{Kind: process.Reply, Conn: 2}},
		{replies, process.Effect{Kind: process.Reply}, process.Effect{Kind: process.Reply, Last: true}},
		{replies, process.Effect{Kind: process.Reply}, process.Effect{Kind: process.Reply, Bytes: []byte("b")}},
		{saves, process.Effect{Kind: process.Save}, process.Effect{Kind: process.Erase}},
		{saves, process.Effect{Kind: process.Save}, process.Effect{Kind: process.Save, Number: 1}},
		{saves, process.Effect{Kind: process.Save}, process.Effect{Kind: process.Save, Bytes: []byte("b")}},
		{closings, process.Effect{Kind: process.HangUp}, process.Effect{Kind: process.HangUp, To: "a"}},
		{closings, process.Effect{Kind: process.HangUp}, process.Effect{Kind: process.Cut}},
		{closings, process.Effect{Kind: process.Cut}, process.Effect{Kind: process.Cut, Conn: 1}},
		{closings, process.Effect{Kind: process.LinkEnded}, process.Effect{Kind: process.LinkEnded, Peer: 1}},
		{closings, process.Effect{Kind: process.Ask, Question: &session.Question{}}, process.Effect{Kind: process.Ask, Question: &session.Question{Number: 1}}},
	} {
		a := outcome(&process.Output{Effects: []process.Effect{c.a}})
		b := outcome(&process.Output{Effects: []process.Effect{c.b}})
		for k := range classes {
			if (a.Effects[k] != b.Effects[k]) != (k == c.class) {
				t.Errorf("%s: %+v and %+v: %v and %v", classNames[k], c.a, c.b, a.Effects[k], b.Effects[k])
			}
		}
	}
}

// An oracle that watches a process changes nothing of what is recorded.
func TestObserved(t *testing.T) {
	for k := process.ClientEvent; k <= process.Unlocked; k++ {
		if got := outcome(&process.Output{Effects: []process.Effect{{Kind: k}}}); got != (Outcome{}) {
			t.Errorf("effect %d: %+v", k, got)
		}
	}
}

// A process that does something else is found where it does, and the difference says
// what it did.
func TestPlanted(t *testing.T) {
	a, _ := live(t)
	for _, c := range []struct{ algorithm, what, how, did string }{
		{"central", `an application requests "door"`, "messages to nodes: 1 both times", "sends a packet of 22 bytes to b:7420"},
		{"ricart-agrawala", "a packet of 22 bytes arrives from b:7420", "frames to clients: 1 recorded, 0 now", "ends the link to member 128"},
	} {
		o := options()
		o.Spec = func(_ string, version int) (algorithm.Spec, error) { return catalog.MakeLive(c.algorithm, version) }
		r := replay(t, a, o)
		if r.Differs == nil {
			t.Errorf("%s: not found", c.algorithm)
			continue
		}
		how, did := strings.Join(r.Differs.How, "\n"), strings.Join(r.Differs.Did, "\n")
		if !strings.Contains(r.Differs.What, c.what) || !strings.Contains(how, c.how) || !strings.Contains(did, c.did) || r.Differs.Input != r.Inputs {
			t.Errorf("%s: %+v", c.algorithm, *r.Differs)
		}
	}
}

// ill returns algorithms of which the second one that is asked for panics.
func ill() func(algorithm string, version int) (algorithm.Spec, error) {
	asked := 0
	return func(algorithm string, version int) (algorithm.Spec, error) {
		if asked++; asked == 3 { // the founder looks whether it can run what it chooses
			panic("ill")
		}
		return catalog.MakeLive(algorithm, version)
	}
}

// An input in which the process panics is recorded, and the replay panics too. It is a
// difference if only one of them does.
func TestPanic(t *testing.T) {
	w := &town{t: t, now: ms, spec: ill()}
	a := w.found()
	func() {
		defer func() {
			if why := recover(); why != "ill" {
				t.Errorf("it panics with %v", why)
			}
		}()
		w.join(a)
	}()
	sick := options()
	sick.Spec = ill()
	if r := replay(t, a.tape.B, sick); !r.Crashed || r.Panicked != "ill" || r.Differs != nil || r.Process != nil {
		t.Errorf("the same panic: %+v", r)
	}
	if r := replay(t, a.tape.B, options()); r.Differs == nil || r.Panicked != "" || !strings.Contains(r.Differs.How[0], "does not now") {
		t.Errorf("no panic: %+v", r)
	}
	sick.Spec = ill()
	first, _ := live(t)
	if r := replay(t, first, sick); r.Differs == nil || r.Panicked != "ill" || !strings.Contains(r.Differs.How[0], "the process panics") {
		t.Errorf("a new panic: %+v", r)
	}
}

// A process whose disk fails, fails again when it is replayed.
func TestDiskFails(t *testing.T) {
	for _, why := range []string{"the disk is full", strings.Repeat("long ", maxText)} {
		w := &town{t: t, now: ms, spec: catalog.MakeLive}
		a := w.found()
		a.broken = why
		b := w.build("b", a.address)
		w.run(200 * ms)
		a.step(process.Input{Kind: process.Lock, Text: "x"}) // which is refused: it has ended
		a.tape.End("the node has ended")
		if a.failed == nil || b.failed != nil {
			t.Fatalf("%v, %v", a.failed, b.failed)
		}
		r := replay(t, a.tape.B, options())
		if r.Differs != nil || r.Failed != clipped(why) || r.End != "the node has ended" || r.ByKind[process.Lock] != 1 {
			t.Errorf("%+v", r)
		}
	}
}

// That only one of two processes fails is a difference.
func TestFailsAnew(t *testing.T) {
	for _, c := range [][2]string{{"", "full"}, {"full", ""}, {"full", "broken"}} {
		p := &player{}
		if how := p.compare(&Outcome{Failed: c[0]}, &Outcome{Failed: c[1]}); len(how) != 1 || !strings.HasPrefix(how[0], "failure: ") {
			t.Errorf("%q: %q", c, how)
		}
	}
}

// A recording of another format is refused, with the version that made it and what to do.
func TestOtherFormat(t *testing.T) {
	b, err := os.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	b[len(Magic)] = Format + 1
	for size, want := range map[int]string{len(b): "made by a test,", len(Magic) + 1: "made by an unknown version of stile,"} {
		_, err := Replay(bytes.NewReader(b[:size]), options())
		if err == nil || !strings.Contains(err.Error(), "format 2 and was "+want) || !strings.Contains(err.Error(), "replay it with the version that made it") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// A recording that was cut off is replayed as far as it goes.
func TestTorn(t *testing.T) {
	a, _ := live(t)
	whole := replay(t, a, options())
	before, torn := -1, 0
	for size := range a {
		r, err := Replay(bytes.NewReader(a[:size]), options())
		if err != nil {
			if before >= 0 {
				t.Fatalf("%d bytes: %v", size, err)
			}
			continue // not even the header
		}
		if r.Differs != nil || r.Inputs < before || r.Inputs > before+1 && before >= 0 || r.End != "" {
			t.Fatalf("%d bytes: %d inputs after %d: %+v", size, r.Inputs, before, r.Differs)
		}
		before = r.Inputs
		if r.Torn {
			torn++
		}
	}
	if before != whole.Inputs || torn < len(a)/2 {
		t.Errorf("%d inputs of %d, %d torn", before, whole.Inputs, torn)
	}
}

// A changed byte is found before it is used.
func TestDamaged(t *testing.T) {
	a, _ := live(t)
	whole := replay(t, a, options())
	for i := range a {
		b := bytes.Clone(a)
		b[i] ^= 1 << (i % 8)
		r, err := Replay(bytes.NewReader(b), options())
		if err == nil || i != len(Magic) && !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d: %v, %+v", i, err, r)
		}
		if r != nil && (r.Differs != nil || r.Inputs > whole.Inputs) {
			t.Fatalf("byte %d: %+v", i, r)
		}
	}
}

// A block that is missing or repeated is found.
func TestMissing(t *testing.T) {
	a, _ := live(t)
	var ends []int
	d, err := NewReader(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	for e := (Entry{}); d.Next(&e) == nil; {
		ends = append(ends, int(d.offset))
	}
	for i := 1; i < len(ends); i++ {
		gone := append(bytes.Clone(a[:ends[i-1]]), a[ends[i]:]...)
		twice := append(bytes.Clone(a[:ends[i]]), a[ends[i-1]:]...)
		for _, b := range [][]byte{gone, twice} {
			if _, err := Replay(bytes.NewReader(b), options()); !errors.Is(err, ErrDamaged) {
				t.Fatalf("entry %d: %v", i, err)
			}
		}
	}
}

// A replay stops after the given number of inputs, and then shows the process.
func TestUntil(t *testing.T) {
	a, _ := live(t)
	o := options()
	for o.Until = 1; o.Until < 40; o.Until += 13 {
		if r := replay(t, a, o); !r.Stopped || r.Inputs != o.Until || r.Process == nil {
			t.Errorf("%d: %+v", o.Until, r)
		}
	}
	o.Until = 1 << 30
	if r := replay(t, a, o); r.Stopped {
		t.Errorf("%+v", r)
	}
}
