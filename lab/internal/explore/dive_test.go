package explore

import "testing"

// deep is a model that is too wide for a search in breadth: of so many switches
// each is on or off, in any order, and something is broken when all have been
// touched.
type deep struct{ n int }

func (m deep) Worker() Worker { return m }

func (m deep) Init(emit func([]byte) bool) error {
	emit(make([]byte, m.n))
	return nil
}

func (m deep) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	left := 0
	for i := range state {
		if state[i] != 0 {
			continue
		}
		left++
		for _, to := range []byte{1, 2} {
			next := append([]byte{}, state...)
			next[i] = to
			emit(Step{}, next)
		}
	}
	if left == 0 && state[0] == 2 && state[1] == 1 {
		return 1, nil
	}
	return 0, nil
}

// A dive finds what is deep, by a run that begins at a start and ends where it
// is broken; and nothing where there is nothing.
func TestDive(t *testing.T) {
	d := Dive{Stop: 1, Tries: 50, Steps: 100}
	c, err := d.Run(deep{40}, Limits{})
	if err != nil || c == nil || len(c.States) != 41 || c.Broken != 1 {
		t.Fatalf("got %+v and %v", c, err)
	}
	if broken, _ := (deep{40}).Next(c.States[40], func(Step, []byte) {}); broken != 1 {
		t.Errorf("the run ends where nothing is broken")
	}
	d.Stop = 2
	if c, err := d.Run(deep{40}, Limits{}); c != nil || err != nil {
		t.Errorf("got %+v and %v, want nothing", c, err)
	}
}
