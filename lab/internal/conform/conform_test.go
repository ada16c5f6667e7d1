package conform

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/host"
)

// A letter is a message in flight.
type letter struct {
	bytes  []byte
	number uint64
}

// random returns what machines do that live from the start to the end of a random run. At
// its end messages are in flight, if there are several machines. Idle ones take no step.
func random(t *testing.T, spec algorithm.Spec, n, steps int, idle ...int) *Run {
	t.Helper()
	r := &Run{Spec: spec, View: algorithm.View{N: n, Busy: true}, Seats: make([]Seat, n)}
	machines, err := spec.Group(r.View)
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, uint64(n)))
	links, sent := map[[2]int][]letter{}, map[[2]int]uint64{}
	inside, waits := make([]bool, n), make([]bool, n)
	inside[0] = true
	for p := range r.Seats {
		r.Seats[p] = Seat{Name: string(rune('a' + p)), Whole: true, Arrived: make([]uint64, n)}
	}
	flying := 0
	for k := 0; k < steps || flying == 0 && n > 1; k++ {
		p := draw.IntN(n)
		s := Step{In: host.Input{Kind: host.Request, From: algorithm.None}}
		switch from := draw.IntN(n); {
		case slices.Contains(idle, p):
			continue
		case len(links[[2]int{from, p}]) > 0:
			link := [2]int{from, p}
			s.In = host.Input{Kind: host.Receive, From: algorithm.ID(from), Bytes: links[link][0].bytes}
			s.Came, links[link] = links[link][0].number, links[link][1:]
			r.Seats[p].Arrived[from] = s.Came
			flying--
		case inside[p]:
			s.In.Kind, inside[p] = host.Release, false
		case waits[p]:
			continue
		default:
			waits[p] = true
		}
		s.Before = machines[p].AppendState(nil)
		var out host.Output
		if err := machines[p].Step(s.In, &out); err != nil {
			t.Fatal(err)
		}
		s.After, s.Out = machines[p].AppendState(nil), out
		for i, x := range out.Sends {
			link := [2]int{p, int(x.To)}
			sent[link]++
			flying++
			s.Went = append(s.Went, sent[link])
			links[link] = append(links[link], letter{bytes.Clone(out.Bytes(i)), sent[link]})
		}
		if out.Entered {
			inside[p], waits[p] = true, false
		}
		r.Seats[p].Steps = append(r.Seats[p].Steps, s)
	}
	return r
}

// count returns the number of steps of a run.
func (r *Run) count() (n int) {
	for _, s := range r.Seats {
		n += len(s.Steps)
	}
	return n
}

// What machines do by themselves is a run of the model, for every algorithm that runs live
// and groups of several sizes.
func TestConforms(t *testing.T) {
	t.Parallel()
	for _, spec := range catalog.Live() {
		for _, n := range []int{1, 2, 3, 5, 17} {
			r := random(t, spec, n, 300-10*n)
			result, err := Check(r)
			if err != nil || result != (Result{Steps: r.count(), Lacks: algorithm.None}) || result.Steps < 20 {
				t.Errorf("%s among %d: %+v: %v", spec.Name, n, result, err)
			}
		}
	}
}

// find returns the step after the given number that is so.
func find(r *Run, after int, is func(s *Step) bool) (seat, step int) {
	for p := range r.Seats {
		for i := after; i < len(r.Seats[p].Steps); i++ {
			if is(&r.Seats[p].Steps[i]) {
				return p, i
			}
		}
	}
	panic("there is no such step")
}

func receives(s *Step) bool { return s.In.Kind == host.Receive }
func enters(s *Step) bool   { return s.Out.Entered }
func sends(s *Step) bool    { return len(s.Out.Sends) > 0 }
func requests(s *Step) bool { return s.In.Kind == host.Request }

// A run with one thing changed is refused, at the seat that it was changed at or at the one
// that notices, and the error says what the model allows.
func TestRefuses(t *testing.T) {
	t.Parallel()
	const after = 5 // steps of a seat before the change
	for _, plant := range []struct {
		name   string
		change func(r *Run) (seat int) // it returns the seat that is refused; -1 if any
	}{
		{"another state before", func(r *Run) int {
			p, i := find(r, after, receives)
			r.Seats[p].Steps[i].Before = r.Seats[p].Steps[0].Before
			return p
		}},
		{"another state after", func(r *Run) int {
			p, i := find(r, after, func(s *Step) bool { return enters(s) })
			r.Seats[p].Steps[i].After = r.Seats[p].Steps[i].Before
			return p
		}},
		{"an entry that is not", func(r *Run) int {
			p, i := find(r, after, func(s *Step) bool { return !enters(s) })
			r.Seats[p].Steps[i].Out.Entered = true
			return p
		}},
		{"no entry", func(r *Run) int {
			p, i := find(r, after, enters)
			r.Seats[p].Steps[i].Out.Entered = false
			return p
		}},
		{"a message less", func(r *Run) int {
			p, i := find(r, after, sends)
			out := &r.Seats[p].Steps[i].Out
			out.Sends = out.Sends[1:]
			return p
		}},
		{"a message more", func(r *Run) int {
			p, i := find(r, after, sends)
			out := &r.Seats[p].Steps[i].Out
			out.Sends = append(slices.Clone(out.Sends), out.Sends[0])
			return p
		}},
		{"a message to another seat", func(r *Run) int {
			p, i := find(r, after, sends)
			out := &r.Seats[p].Steps[i].Out
			out.Sends = slices.Clone(out.Sends)
			out.Sends[0].To = algorithm.ID(p)
			return p
		}},
		{"another message sent", func(r *Run) int {
			p, i := find(r, after, sends)
			out := &r.Seats[p].Steps[i].Out
			out.Buffer = bytes.Clone(out.Buffer)
			out.Buffer[out.Sends[0].Hi-1]++
			return p
		}},
		{"a notice", func(r *Run) int {
			p, i := find(r, after, receives)
			r.Seats[p].Steps[i].Out.Notices = []host.Notice{{Kind: host.Denied}}
			return p
		}},
		{"another message received", func(r *Run) int {
			p, i := find(r, after, receives)
			in := &r.Seats[p].Steps[i].In
			in.Bytes = bytes.Clone(in.Bytes)
			in.Bytes[len(in.Bytes)-1]++
			return p
		}},
		{"a message from another seat", func(r *Run) int {
			p, i := find(r, after, receives)
			in := &r.Seats[p].Steps[i].In
			in.From = algorithm.ID(len(r.Seats)) - algorithm.ID(p) - in.From // the third one
			return p
		}},
		{"a step less", func(r *Run) int {
			p, i := find(r, after, func(s *Step) bool { return !bytes.Equal(s.Before, s.After) })
			r.Seats[p].Steps = slices.Delete(slices.Clone(r.Seats[p].Steps), i, i+1)
			return p
		}},
		{"a request too many", func(r *Run) int {
			p, i := find(r, after, requests)
			again := r.Seats[p].Steps[i]
			again.Before = again.After
			r.Seats[p].Steps = slices.Insert(slices.Clone(r.Seats[p].Steps), i+1, again)
			return p
		}},
		{"a step that the machine refused", func(r *Run) int {
			p, i := find(r, after, receives)
			r.Seats[p].Steps[i].Err = errors.New("refused")
			return p
		}},
		{"a message of another number", func(r *Run) int {
			p, i := find(r, after, receives)
			r.Seats[p].Steps[i].Came++
			return p
		}},
		{"all steps of a seat lost", func(r *Run) int {
			r.Seats[2].Steps = nil
			return -1
		}},
		{"messages lost at the end", func(r *Run) int {
			for _, s := range r.Seats {
				for from := range s.Arrived {
					s.Arrived[from] = 1 << 40
				}
			}
			return -1
		}},
		{"another start", func(r *Run) int {
			r.View.Busy = false
			return -1
		}},
	} {
		for _, name := range []string{"ricart-agrawala", "suzuki-kasami", "maekawa"} {
			t.Run(plant.name+"/"+name, func(t *testing.T) {
				spec, err := catalog.MakeLive(name, 1)
				if err != nil {
					t.Fatal(err)
				}
				r := random(t, spec, 3, 200)
				seat := plant.change(r)
				result, err := Check(r)
				var refusal Refusal
				if !errors.As(err, &refusal) {
					t.Fatalf("%+v: %v", result, err)
				}
				t.Log(err)
				all := r.count()
				if refusal.Step > 0 {
					all--
				}
				if seat >= 0 && int(refusal.Seat) != seat || result.Steps != refusal.Nth-1 || result.Steps+result.Rest != all {
					t.Errorf("%+v: %+v", refusal, result)
				}
				if plant.name != "a step that the machine refused" && !strings.Contains(err.Error(), "the model allows: ") {
					t.Error("it does not say what the model allows")
				}
			})
		}
	}
}

// Two messages of a link that are exchanged are found, whichever they are.
func TestExchanged(t *testing.T) {
	t.Parallel()
	spec, err := catalog.MakeLive("lamport", 1)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for p := range 3 {
		for i := 1; ; i++ {
			r := random(t, spec, 3, 120)
			s := r.Seats[p].Steps
			if i == len(s) {
				break
			}
			a, b := &s[i-1].In, &s[i].In
			if a.Kind != host.Receive || b.Kind != host.Receive || a.From != b.From || bytes.Equal(a.Bytes, b.Bytes) {
				continue
			}
			a.Bytes, b.Bytes = b.Bytes, a.Bytes
			tried++
			var refusal Refusal
			if _, err := Check(r); !errors.As(err, &refusal) || int(refusal.Seat) != p || refusal.Step != i {
				t.Errorf("%v, step %d: %v", p, i, err)
			}
		}
	}
	if tried < 3 {
		t.Error("too few were tried:", tried)
	}
}

// Steps that depend on unknown ones are not checked, and not refused either.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for _, spec := range catalog.Live() {
		for keep := range 8 { // tenths
			r := random(t, spec, 3, 400)
			b := &r.Seats[1]
			b.Steps, b.Whole, b.Arrived = b.Steps[:len(b.Steps)*keep/10], false, nil
			result, err := Check(r)
			if err != nil || result.Lacks != 1 || result.Rest == 0 || result.Steps+result.Rest != r.count() {
				t.Errorf("%s, %d steps: %+v: %v", spec.Name, len(b.Steps), result, err)
			}
		}
	}
}

// A link may have more messages than the checker would explore.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	spec, err := catalog.MakeLive("suzuki-kasami", 1)
	if err != nil {
		t.Fatal(err)
	}
	r := random(t, spec, 3, 2000, 2)
	waiting := 0
	for _, s := range r.Seats[0].Steps {
		for _, x := range s.Out.Sends {
			if x.To == 2 {
				waiting++
			}
		}
	}
	if result, err := Check(r); err != nil || result.Steps != r.count() || waiting < 50 {
		t.Errorf("%d messages, %+v: %v", waiting, result, err)
	}
}

// A group that the model does not have is an error, and not a refusal.
func TestImpossible(t *testing.T) {
	t.Parallel()
	spec, err := catalog.MakeLive("central", 1)
	if err != nil {
		t.Fatal(err)
	}
	r := random(t, spec, 3, 10)
	r.View.N = 4
	var refusal Refusal
	if result, err := Check(r); err == nil || errors.As(err, &refusal) || result != (Result{Rest: r.count(), Lacks: algorithm.None}) {
		t.Errorf("%+v: %v", result, err)
	}
}
