package sim

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// A Violation is one way in which a run broke a property.
type Violation struct {
	Property string // mutual-exclusion, order, lost-request or unasked-entry; elections: one-leader or agreement; transactions: mutual-exclusion, granted-unasked or victim-idle
	At       int64  // ticks
	Proc     core.ID
	Other    core.ID // mutual-exclusion: who was inside. order: who asked before. one-leader: who won too.
	Section  string  // in which section, if there are several; transactions: which lock
}

// String tells the violation in words.
func (v Violation) String() string {
	if v.Section != "" {
		return v.words() + ", in " + v.Section
	}
	return v.words()
}

func (v Violation) words() string {
	switch v.Property {
	case "mutual-exclusion":
		return fmt.Sprintf("%v entered while %v was inside", v.Proc, v.Other)
	case "order":
		return fmt.Sprintf("%v entered before %v, whose request happened before", v.Proc, v.Other)
	case "lost-request":
		return fmt.Sprintf("%v asked and was never granted", v.Proc)
	case "unasked-entry":
		return fmt.Sprintf("%v entered without having asked", v.Proc)
	case scenario.OneLeader:
		return fmt.Sprintf("%v and %v won in the same round", v.Proc, v.Other)
	case "granted-unasked":
		return fmt.Sprintf("%v has got a lock without having asked", v.Proc)
	case "victim-idle":
		return fmt.Sprintf("%v was told to abort, but has no transaction", v.Proc)
	case scenario.Agreement:
		return fmt.Sprintf("all is quiet, but not everybody alive follows %v, the highest", v.Proc)
	}
	return v.Property
}

type phase uint8

const (
	idle phase = iota
	waiting
	inside
)

// An oracle judges a run by what can be seen from outside.
type oracle struct {
	procs  []process
	nWait  int
	nIn    int
	asks   int // requests so far
	passed bypass
	found  []Violation
}

type process struct {
	phase phase
	ask   int // the number of its request
}

func newOracle(n int) *oracle {
	return &oracle{procs: make([]process, n), passed: newBypass(n)}
}

func (o *oracle) violate(v Violation) { o.found = append(o.found, v) }

func (o *oracle) asked(p core.ID) {
	o.asks++
	o.procs[p] = process{waiting, o.asks}
	o.nWait++
}

func (o *oracle) entered(p core.ID, now int64) {
	if o.nIn > 0 {
		for q := range o.procs {
			if o.procs[q].phase == inside {
				o.violate(Violation{Property: "mutual-exclusion", At: now, Proc: p, Other: core.ID(q)})
				break
			}
		}
	}
	o.passed.entered(p, o.procs[p].ask)
	o.procs[p].phase = inside
	o.nWait--
	o.nIn++
}

func (o *oracle) left(p core.ID) {
	o.procs[p].phase = idle
	o.nIn--
}

func (o *oracle) denied(p core.ID) {
	o.procs[p].phase = idle
	o.nWait--
}

// ended reports the requests that nobody will grant any more.
func (o *oracle) ended(now int64) {
	for p := range o.procs {
		if o.procs[p].phase == waiting {
			o.violate(Violation{Property: "lost-request", At: now, Proc: core.ID(p), Other: core.None})
		}
	}
}
