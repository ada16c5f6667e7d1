package viewmodel

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A watcher notes what is delivered and done in all of a model.
type watcher struct {
	*worker
	kinds  map[Kind]bool
	frames map[string]bool
}

func (w *watcher) Next(state []byte, emit func(explore.Step, []byte)) (explore.Broken, error) {
	return w.worker.Next(state, func(s explore.Step, next []byte) {
		kind := Kind(s.Label >> 16)
		w.kinds[kind] = true
		if kind == Deliver {
			view, from, to := int(s.Label>>8&0xff), int(s.Label>>4&0xf), int(s.Label&0xf)
			frame, _ := first(w.now.links[w.link(view, from, to)])
			if sight, err := member.Look(frame); err == nil {
				w.frames[sight.Kind] = true
			}
		}
		emit(s, next)
	})
}

type watched struct{ w *watcher }

func (m watched) Worker() explore.Worker { return m.w }

// TestNothingIsLeftOut sees to it that all that can happen does: every kind of
// step, and every frame but those of tries.
func TestNothingIsLeftOut(t *testing.T) {
	nightly.Only(t)
	kinds, frames := map[Kind]bool{}, map[string]bool{}
	for _, name := range []string{"home evicted", "nobody evicted", "home leaves", "home evicted, a home joins", "only c asks, twice, late reports", "claim, nobody evicted", "claim, move, a leaves", "delegated", "everything"} {
		s := settings()[name]
		switch name {
		case "home leaves":
			s.Asks, s.Cancels = 1, 0
		case "everything":
			s = settings()["home evicted"]
			s.Quiet, s.Cancels, s.Lapses, s.Late = []uint64{1}, 1, 1, 1
		}
		w, ok := s.model(t, "naimi-trehel").Worker().(*worker)
		if !ok {
			t.Fatal("the model has another worker")
		}
		if _, err := explore.Explore(watched{&watcher{w, kinds, frames}}, explore.Limits{Workers: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for k := Deliver; k < lastKind; k++ {
		if !kinds[k] {
			t.Errorf("no step of kind %d", k)
		}
	}
	for _, want := range strings.Fields("ALG REPORT RELEASED QUERY ANSWER LEND RETURN DONE CLAIM CLAIMED") {
		if !frames[want] {
			t.Errorf("no %s is delivered", want)
		}
	}
}

// liars returns an algorithm whose machines give every seat an alibi, inside or not.
func liars(name string, version int) (algorithm.Spec, error) {
	s, err := spec(name, version)
	plan := s.Plan
	s.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return liar{birth(self, v)} }, err
	}
	return s, err
}

type liar struct{ algorithm.Machine }

func (l liar) Unwrap() algorithm.Machine { return l.Machine }

func (liar) Alibi(algorithm.ID) bool { return true }

// TestStory tells a counterexample: the home believes an alibi that is false.
func TestStory(t *testing.T) {
	s := settings()["home evicted"]
	s.Spec = liars
	m := s.model(t, "central")
	story, err := m.Story(Mutual, explore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(story, "\n")
	for _, want := range []string{"b is inside with 1.1", "a is inside with 1.2", "b installs view 2", "REPORT (holds nothing, waits for ", " from c in epoch 2", " is inside with 2.1", "broken: mutual"} {
		if !strings.Contains(got, want) {
			t.Errorf("the story does not say %q:\n%s", want, got)
		}
	}
	if story, err := m.Story(Refused, explore.Limits{}); err != nil || story != nil {
		t.Errorf("a story of what is not broken: %v, %v", story, err)
	}
}

// TestBadModel refuses what cannot be explored.
func TestBadModel(t *testing.T) {
	good := settings()["home evicted"].model(t, "central").Config
	for name, spoil := range map[string]func(c *Config){
		"no views":     func(c *Config) { c.Views = nil },
		"a bad view":   func(c *Config) { c.Views = slices.Clone(c.Views); c.Views[1].Epoch = 0 },
		"no name":      func(c *Config) { c.Lock = "" },
		"no algorithm": func(c *Config) { c.Views = Script("none", 3) },
		"no member":    func(c *Config) { c.Client.Through = 9 },
	} {
		c := good
		if spoil(&c); !refused(c) {
			t.Errorf("%s: not refused", name)
		}
	}
	if _, err := LockWith(good.Views, 1, 1); err == nil {
		t.Error("a home that is no member: not refused")
	}
	m, err := New(good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Worker().Next([]byte("no state"), func(explore.Step, []byte) {}); err == nil {
		t.Error("a bad state: not refused")
	}
}

func refused(c Config) bool {
	_, err := New(c)
	return err != nil
}
