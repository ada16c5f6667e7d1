package document

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/scenarios"
	"github.com/stile-lock/stile/lab/sim"
)

// files calls f with every scenario of the repository.
func files(t *testing.T, f func(t *testing.T, name, text string)) {
	t.Helper()
	names, err := fs.Glob(scenarios.Files, "*.stile")
	if err != nil || len(names) < 100 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(scenarios.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { f(t, name, string(text)) })
	}
}

// TestEveryScenario: what the lab shows at the end is what a replay reports, and
// the deltas lead from each key frame to the next.
func TestEveryScenario(t *testing.T) {
	waited := 0
	files(t, func(t *testing.T, name, text string) {
		d := Run(text, Options{File: name})
		if d.Error != nil {
			t.Fatalf("line %d: %s", d.Error.Line, d.Error.Text)
		}
		report := reported
		if scenario.IsGraph(text) {
			report = reportedGraph
		}
		want, expected, differences := report(t, name, text, d)
		if string(d.End) != string(want) {
			t.Errorf("end\n got %s\nwant %s", d.End, want)
		}
		wrong := 0
		for _, e := range d.Expects {
			if !e.OK {
				wrong++
			}
		}
		if wrong != differences || len(d.Expects) < expected {
			t.Errorf("%d of %d expectations are wrong, but the replay has %d differences", wrong, len(d.Expects), differences)
		}
		if err := frames(d); err != "" {
			t.Error(err)
		}
		for _, x := range d.Deltas {
			if x.Wait != nil && *x.Wait != "" {
				waited++
			}
		}
		if _, err := d.JSON(); err != nil {
			t.Error(err)
		}
	})
	if waited < 1000 {
		t.Errorf("only %d sentences say why somebody waits", waited)
	}
}

// reportedGraph examines a graph of resources without the lab.
func reportedGraph(t *testing.T, name, text string, _ *Document) (end json.RawMessage, expected, differences int) {
	t.Helper()
	g, err := scenario.ParseGraph(name, text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := sim.Reduce(g)
	if err != nil {
		t.Fatal(err)
	}
	if end, err = Encode(v.Report(g)); err != nil {
		t.Fatal(err)
	}
	return end, len(g.Expect), len(v.Differences)
}

// reported replays a scenario without the lab.
func reported(t *testing.T, name, text string, d *Document) (end json.RawMessage, expected, differences int) {
	t.Helper()
	sc, err := scenario.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := SpecOf(sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Events) != len(d.Events) || len(back.Violations) != len(d.Violations) {
		t.Errorf("%d events and %d violations, but the replay has %d and %d", len(d.Events), len(d.Violations), len(back.Events), len(back.Violations))
	}
	last := d.at(len(d.Events))
	for i, fields := range back.States {
		want := [][2]string{}
		for _, f := range apart(slices.Clone(fields)) {
			want = append(want, [2]string{f.Name, f.Value})
		}
		if got := sorted(last.States[i]); !reflect.DeepEqual(got, sorted(want)) {
			t.Errorf("the state of lane %d at the end is %v, want %v", i, got, want)
		}
	}
	end, err = Encode(back.Report(spec, sc))
	if err != nil {
		t.Fatal(err)
	}
	return end, len(sc.Expect), len(back.Differences)
}

func sorted(fields [][2]string) [][2]string {
	fields = append([][2]string{}, fields...)
	slices.SortFunc(fields, func(a, b [2]string) int {
		if a[0] < b[0] {
			return -1
		}
		return 1
	})
	return fields
}

// at returns how everything is at a cursor, as a page finds out.
func (d *Document) at(event int) Key {
	k := d.Keys[0]
	return d.from(Key{Event: k.Event, States: clone(k.States), Status: slices.Clone(k.Status), Waits: slices.Clone(k.Waits)}, event)
}

func clone(states [][][2]string) [][][2]string {
	all := make([][][2]string, len(states))
	for i := range states {
		all[i] = slices.Clone(states[i])
	}
	return all
}

// from applies deltas to a key frame.
func (d *Document) from(k Key, event int) Key {
	for _, x := range d.Deltas {
		if x.Event <= k.Event && !(k.Event == 0 && x.Event == 0) || x.Event > event {
			continue
		}
		for _, set := range x.Set {
			fields := k.States[x.Proc]
			at := slices.IndexFunc(fields, func(f [2]string) bool { return f[0] == *set[0] })
			switch {
			case set[1] == nil:
				fields = slices.Delete(fields, at, at+1)
			case at < 0:
				fields = append(fields, [2]string{*set[0], *set[1]})
			default:
				fields[at][1] = *set[1]
			}
			k.States[x.Proc] = fields
		}
		if x.Status != "" {
			k.Status[x.Proc] = x.Status
		}
		if x.Wait != nil {
			k.Waits[x.Proc] = *x.Wait
		}
	}
	k.Event = event
	return k
}

// frames says what is wrong with the deltas between key frames, or nothing.
func frames(d *Document) string {
	for i := 1; i < len(d.Deltas); i++ {
		if d.Deltas[i].Event < d.Deltas[i-1].Event {
			return "deltas are out of order"
		}
	}
	for i := range d.Keys {
		want := d.Keys[i]
		got := d.at(want.Event)
		if !reflect.DeepEqual(got.Status, want.Status) || !reflect.DeepEqual(got.Waits, want.Waits) {
			return "status or waits of a key frame differ"
		}
		for p := range want.States {
			if !reflect.DeepEqual(sorted(got.States[p]), sorted(want.States[p])) {
				return "a state of a key frame differs"
			}
		}
	}
	return ""
}

// every calls f with each algorithm of the catalog, ready to run among n.
func every(f func(name string, spec algorithm.Spec)) {
	for _, s := range slices.Concat(catalog.All(), catalog.Elections()) {
		f(s.Name, s)
	}
	for _, lock := range catalog.Sound() {
		if s, err := catalog.Make(lock.Name+"+bully", algorithm.Options{}); err == nil {
			f(s.Name, s)
		}
	}
	for _, name := range []string{"token-ring+ring-election", "token-ring+hasty"} {
		if s, err := catalog.Make(name, algorithm.Options{}); err == nil {
			f(name, s)
		}
	}
	for _, m := range deadlock.Methods() {
		if s, err := m.Spec(deadlock.Spread(2, 3, 3), ""); err == nil {
			f(m.Name, s)
		}
	}
}

// TestTransactionsAreToldOnce: a process that asks for its next lock leaves none, and what
// a site remarks is not what the process is said to do, word for word.
func TestTransactionsAreToldOnce(t *testing.T) {
	told := 0
	files(t, func(t *testing.T, name, text string) {
		d := run(text, Options{File: name}, undrawn)
		if d.Kind != "transactions" {
			return
		}
		var step []string
		for _, e := range d.Events {
			if !e.Part {
				step = step[:0]
			}
			said := strings.TrimSuffix(e.Text, ".")
			if slices.Contains(step, said) || strings.HasSuffix(said, " leaves") {
				t.Errorf("at %d: %s", e.At, e.Text)
			}
			step = append(step, said)
			told++
		}
	})
	if told < 500 {
		t.Errorf("%d events", told)
	}
}

// A shaky machine panics when somebody leaves.
type shaky struct{ algorithm.Machine }

func (m shaky) Step(in host.Input, out *host.Output) error {
	if in.Kind == host.Release {
		panic("no way out")
	}
	return m.Machine.Step(in, out)
}

// An algorithm that panics is an error of the run, on the line that it comes of if
// there is one, and of a click.
func TestPanicOfTheAlgorithm(t *testing.T) {
	o := Options{Specs: func(name string, o algorithm.Options) (algorithm.Spec, error) {
		spec, err := catalog.Make("central", o)
		plan := spec.Plan
		spec.Name, spec.Plan = name, func(n int) (algorithm.Birth, error) {
			birth, err := plan(n)
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return shaky{birth(self, v)} }, err
		}
		return spec, err
	}}
	const steps = "algorithm shaky\nprocesses 2\nholder 1 busy\nschedule steps\n"
	want := "shaky: P1 in step 1: bug in the algorithm: panic when its application releases: no way out, at run_test.go:"
	if d := run(steps+"P1 leaves\n", o, undrawn); d.Error == nil || d.Error.Line != 5 || !strings.Contains(d.Error.Text, want) {
		t.Errorf("got %+v, want %s", d.Error, want)
	}
	if _, err := Act(steps, o, 0, UserAction{Verb: "leave", Proc: 0}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("of a click: got %v, want %s", err, want)
	}
}
