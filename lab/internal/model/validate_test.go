package model

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// All steps that machines took are listed, each once, in an order of their own.
func TestTakenSteps(t *testing.T) {
	kinds := map[host.InputKind]int{}
	for _, c := range []Config{
		setup{Spec: mutex.SuzukiKasami(), Nodes: 2}.config(t),
		setup{Spec: mutex.CentralStamped(0), Nodes: 2, Watch: family.OrderOpen}.config(t),
		transacts(t, transactions.Dinner(deadlock.DetectCentral(), deadlock.OnDemand, 2, 2), 1),
		vote{election.Bully(), 3, 1, 1, AnyPace}.config(),
	} {
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		w := &listening{worker: m.worker(), took: map[string]bool{}}
		if _, err := explore.BuildGraph(listened{w}, explore.GraphLimits{}); err != nil {
			t.Fatal(err)
		}
		list := m.taken()
		if len(list) != len(m.tried.steps) {
			t.Fatalf("%s: %d steps are listed, want %d", c.Spec.Name, len(list), len(m.tried.steps))
		}
		for i, s := range list {
			kinds[s.in.Kind]++
			if (s.msg != nil) != (s.in.Kind == host.Receive) || s.msg != nil && (s.msg.seat != algorithm.None || !bytes.Equal(s.msg.bytes, s.in.Bytes)) || s.state.seat == algorithm.None {
				t.Fatalf("%s: the step %+v cannot be", c.Spec.Name, s)
			}
			if i > 0 && compareTaken(list[i-1], s) >= 0 {
				t.Fatalf("%s: %+v comes before %+v", c.Spec.Name, list[i-1], s)
			}
			delete(w.took, taking(s.state.id, s.in))
		}
		if len(w.took) > 0 {
			t.Errorf("%s: %d steps were taken that are not listed", c.Spec.Name, len(w.took))
		}
		if err := m.Validate(explore.Limits{}, 500, 1); err != nil {
			t.Errorf("%s: %v", c.Spec.Name, err)
		}
	}
	for _, kind := range []host.InputKind{host.Request, host.Release, host.Receive, host.Expire, host.Suspect, host.Trust, host.Hear} {
		if kinds[kind] == 0 {
			t.Errorf("no step of kind %d was taken: too few to tell", kind)
		}
	}
}

// compareTaken orders steps, the first difference deciding.
func compareTaken(a, b taken) int {
	for _, c := range []int{
		cmp.Compare(a.state.seat, b.state.seat), slices.Compare(a.state.bytes, b.state.bytes), cmp.Compare(a.in.Kind, b.in.Kind), cmp.Compare(a.in.From, b.in.From),
		slices.Compare(a.in.Bytes, b.in.Bytes), cmp.Compare(a.in.Timer, b.in.Timer), cmp.Compare(a.in.Time, b.in.Time), cmp.Compare(a.in.Arg, b.in.Arg),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// A listening worker notes the steps of its machines.
type listening struct {
	*worker
	took map[string]bool
}

func taking(state uint32, in host.Input) string {
	return string(in.Bytes) + " " + string([]rune{rune(state), rune(in.Kind), rune(in.From + 1), rune(in.Timer), rune(in.Time), rune(in.Arg)})
}

func (l *listening) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	l.walking = true
	return l.worker.Next(state, func(s explore.Step, next []byte) {
		for _, d := range l.done {
			l.took[taking(d.state, d.in)] = true
		}
		emit(s, next)
	})
}

// listened is a model with one worker.
type listened struct{ w *listening }

func (m listened) Worker() explore.Worker { return m.w }

// What a message becomes when anchors move up: nothing, if it has no counters, or there are
// no anchors.
func TestOlder(t *testing.T) {
	for _, spec := range []algorithm.Spec{mutex.SuzukiKasami(), mutex.RicartAgrawala()} {
		m := mustModel(t, setup{Spec: spec, Nodes: 2, Requests: 2})
		if _, err := explore.Explore(m, explore.Limits{Workers: 1}); err != nil {
			t.Fatal(err)
		}
		w := m.worker()
		some := false
		for _, b := range slices.Clone(m.blobs.infos) {
			if b.seat != algorithm.None {
				continue
			}
			older, err := w.older(b)
			if err != nil || b.seqs && len(older) != m.Seats || !b.seqs && older != nil {
				t.Errorf("%s: a message with counters (%v) becomes %d others, %v", spec.Name, b.seqs, len(older), err)
			}
			for column, o := range older {
				want, err := w.rewrite(b, &columns{anchor: slices.Insert(make([]uint64, 1), column, 1), cut: true})
				if err != nil || b.anchor == nil && !bytes.Equal(o.bytes, want) {
					t.Errorf("%s: % x becomes % x, want % x, %v", spec.Name, b.bytes, o.bytes, want, err)
				}
			}
			some = some || older != nil
		}
		if some != m.blobs.anchors.Load() {
			t.Errorf("%s: messages become older: %v", spec.Name, some)
		}
	}
}

// A wary process ignores notes until it suspects the other one.
type wary struct {
	self            algorithm.ID
	suspects, heard bool
}

type note struct{ Kind uint8 }

func (m *note) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, 0)
	c.Idempotent()
}

func (s *wary) Fields(c *algorithm.Coder) {
	c.Bool("suspects", &s.suspects)
	c.Bool("heard", &s.heard)
}

func (s *wary) Request(o *algorithm.Out[note]) {
	if s.self == 0 {
		o.Send(1, note{})
	}
}

func (s *wary) Release(*algorithm.Out[note])                      {}
func (s *wary) Receive(algorithm.ID, *note, *algorithm.Out[note]) { s.heard = s.suspects }
func (s *wary) Suspect(_ algorithm.ID, _ *algorithm.Out[note])    { s.suspects = true }

// A second copy must change nothing after a suspicion either, which comes from the sender
// of the copy no more than from another process.
func TestEchoAfterSuspicion(t *testing.T) {
	spec := algorithm.Spec{Name: "wary", Kinds: []string{"NOTE"}, Detects: true, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &wary{self: self})
	})}
	c := setup{Spec: spec, Nodes: 2, Requests: 1}.config(t)
	c.Crashes = 1
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := explore.Explore(m, explore.Limits{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	if err := m.Validate(explore.Limits{}, 10, 1); !errors.As(err, new(ClaimError)) {
		t.Errorf("got %v, want a claim that does not hold", err)
	}
}
