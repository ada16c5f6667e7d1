package explore

import "slices"

// Dives. If a group is so large that a breadth-first search does not reach the depth at
// which something breaks, some random runs may: a deadlock, for one, is as deep as all
// messages that must arrive before it. What a dive finds is true, but need not be the
// shortest way there; finding nothing means nothing.

// A Dive configures the search.
type Dive struct {
	Stop  Broken // properties to look for
	Tries int    // number of runs
	Steps int    // maximum length of each
}

// A Catch is what a dive has found: the states along a run, which begins with start
// number Start and ends where Broken is violated.
type Catch struct {
	Start  int
	States [][]byte
	Broken Broken
}

// Run dives, deterministically. It returns nil if it finds nothing.
func (d Dive) Run(m Model, l Limits) (*Catch, error) {
	w, watch := m.Worker(), l.watch()
	var starts [][]byte
	err := w.Init(func(state []byte) bool {
		starts = append(starts, slices.Clone(state))
		return len(starts) < d.Tries
	})
	chance, visited := uint64(1), 0
	for try := 0; try < d.Tries && err == nil && len(starts) > 0; try++ {
		if watch.over(0) != "" {
			return nil, nil
		}
		c := &Catch{Start: try % len(starts)}
		c.States = append(c.States, starts[c.Start])
		if err = c.fall(w, d, &chance); c.Broken != 0 {
			return c, err
		}
		visited += len(c.States)
		watch.tell(Progress{States: int64(visited), Depth: len(c.States)})
	}
	return nil, err
}

// fall takes random steps until there are none, or a property is violated.
func (c *Catch) fall(w Worker, d Dive, chance *uint64) error {
	for range d.Steps {
		var next []byte
		steps := uint64(0)
		var by Broken
		broken, err := w.Next(c.States[len(c.States)-1], func(s Step, state []byte) {
			steps++
			// Choose each with the same probability, without storing them all.
			if *chance = *chance*6364136223846793005 + 1442695040888963407; *chance>>33%steps == 0 {
				next, by = append(next[:0], state...), s.Broken&d.Stop
			}
		})
		if c.Broken = broken & d.Stop; c.Broken != 0 {
			return nil
		}
		if by == 0 && err != nil || next == nil {
			return err
		}
		c.States = append(c.States, next)
		if c.Broken = by; by != 0 {
			return nil
		}
	}
	return nil
}
