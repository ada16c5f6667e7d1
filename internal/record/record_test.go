package record

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/station"
)

var update = flag.Bool("update", false, "rewrite the recording in testdata")

// small is a recording as it is in the repository, of a node that founds a cluster.
const small = "testdata/small.rec"

func replay(t *testing.T, b []byte, o Options) *Result {
	t.Helper()
	r, err := Replay(bytes.NewReader(b), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What was recorded comes out the same again.
func TestReplay(t *testing.T) {
	a, b := live(t)
	for _, recording := range [][]byte{a, b} {
		r := replay(t, recording, options())
		if r.Differs != nil {
			t.Errorf("%s: %+v", r.Header.Begin.Name, r.Differs)
		}
		if r.Torn || r.Stopped || r.End != "the node has ended" || r.Granted < 1 || r.Views < 1 {
			t.Errorf("%s: %+v", r.Header.Begin.Name, r)
		}
	}
}

// The recording in the repository comes out the same again, and is that of today: what
// changes what a node does must be seen here. With -update it is made anew.
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
		t.Errorf("%+v\nif that is meant to be, run this test with -update", r.Differs)
	}
	if !bytes.Equal(a, b) {
		t.Error("it is not what is recorded today: run this test with -update")
	}
	for _, k := range []station.Kind{station.Found, station.Join, station.Wake, station.Up, station.Down, station.Message, station.Frame, station.Closed, station.Lock, station.Unlock} {
		if r.ByKind[k] == 0 {
			t.Errorf("it has no %v", k)
		}
	}
}

// A station that does something else is found where it does, and what it did is told:
// here it runs another algorithm. internal/controls breaks rules of the member instead.
func TestPlanted(t *testing.T) {
	a, _ := live(t)
	for _, c := range []struct{ algorithm, what, how, did string }{
		{"central", `an application asks for "door"`, "what is sent to other nodes: 1 both times, with other bytes", "sends a packet of 22 bytes to b:7420"},
		{"ricart-agrawala", "a packet of 22 bytes came from b:7420", "what applications and clients are told of their requests: 1 recorded, 0 now", ""},
	} {
		o := options()
		o.Spec = func(_ string, version int) (core.Spec, error) { return catalog.MakeLive(c.algorithm, version) }
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
func ill() func(algorithm string, version int) (core.Spec, error) {
	asked := 0
	return func(algorithm string, version int) (core.Spec, error) {
		if asked++; asked == 2 {
			panic("ill")
		}
		return catalog.MakeLive(algorithm, version)
	}
}

// What the process did not survive is recorded, and comes out the same; unless it is
// survived now, or what was survived is not.
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
	if r := replay(t, a.tape.B, sick); !r.Crashed || r.Panicked != "ill" || r.Differs != nil || r.Station != nil {
		t.Errorf("the same panic: %+v", r)
	}
	if r := replay(t, a.tape.B, options()); r.Differs == nil || r.Panicked != "" || !strings.Contains(r.Differs.How[0], "does not now") {
		t.Errorf("no panic: %+v", r)
	}
	sick.Spec = ill()
	first, _ := live(t)
	if r := replay(t, first, sick); r.Differs == nil || r.Panicked != "ill" || !strings.Contains(r.Differs.How[0], "it panics") {
		t.Errorf("a new panic: %+v", r)
	}
}

// A node whose store fails ends: that is told, and is no difference.
func TestFault(t *testing.T) {
	a, _ := live(t)
	d, err := NewReader(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(&d.Header)
	var e Entry
	for range 9 {
		if err := d.Next(&e); err != nil {
			t.Fatal(err)
		}
		w.Took(&e.In, &e.Out)
	}
	if err := d.Next(&e); err != nil {
		t.Fatal(err)
	}
	e.Out = station.Outcome{Fault: "the disk is full"}
	w.Took(&e.In, &e.Out)
	if r := replay(t, w.B, options()); r.Differs != nil || r.Fault != "the disk is full" || r.Inputs != 10 {
		t.Errorf("%+v", r)
	}
}

// Of a recording that was cut off, what is there is replayed.
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

// A byte that has turned is found before anything is made of it.
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

// A block that is missing, or comes twice, is found.
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

// A replay stops where it is told to, and shows how things are there.
func TestUntil(t *testing.T) {
	a, _ := live(t)
	o := options()
	for o.Until = 1; o.Until < 40; o.Until += 13 {
		if r := replay(t, a, o); !r.Stopped || r.Inputs != o.Until || r.Station == nil {
			t.Errorf("%d: %+v", o.Until, r)
		}
	}
	o.Until = 1 << 30
	if r := replay(t, a, o); r.Stopped {
		t.Errorf("%+v", r)
	}
}
