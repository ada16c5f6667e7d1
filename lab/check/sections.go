package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// Several sections: package internal/family/sections says how processes use them.

// inSections completes expectations about processes that wait. A process waits for the
// section that it asked for last.
func inSections(sc *scenario.Scenario) {
	if len(sc.Sections) == 0 {
		return
	}
	for i := range sc.Expect {
		for _, a := range sc.Actions {
			if e := &sc.Expect[i]; e.Kind == script.PhaseIs && a.Kind == script.Ask && a.Proc == e.Proc {
				e.Section = a.Section
			}
		}
	}
}

// apart finds out which sections a counterexample is about. One that expects nothing is a
// deadlock: the simulator does not know that a process inside one section leaves it only
// after it has entered another. Where processes are is then expected, and replayed.
func (p *Property) apart(back *sim.Playback) (*sim.Playback, error) {
	sc := p.Counterexample
	for _, v := range back.Violations {
		if v.Section != "" && p.where == "" {
			p.where = ", in section " + v.Section
		}
	}
	for _, e := range sc.Expect {
		if e.Kind == script.PhaseIs {
			p.where = "; " + stands(sc.Expect, e.Proc)
		}
	}
	if len(sc.Expect) > 0 {
		return back, nil
	}
	if len(back.UnderWay) > 0 {
		return nil, errors.New("messages are in flight")
	}
	sc.Expect = standing(sc, back)
	var all []string
	for q := range algorithm.ID(sc.Processes) {
		if s := stands(sc.Expect, q); s != "" {
			all = append(all, s)
		}
	}
	if !slices.ContainsFunc(sc.Expect, func(e script.Expectation) bool { return e.Phase == script.Waits }) {
		return nil, errors.New("no process waits")
	}
	p.where = ": " + strings.Join(all, "; ")
	return p.Replay()
}

// standing returns where the processes are at the end, section by section.
func standing(sc *scenario.Scenario, back *sim.Playback) []script.Expectation {
	var all []script.Expectation
	for q := range algorithm.ID(sc.Processes) {
		for _, s := range sc.Sections {
			now := script.Expectation{Kind: script.PhaseIs, Proc: q, Section: s.Name}
			for _, e := range back.Events {
				if e.Proc != q || e.Section != s.Name {
					continue
				}
				switch e.Kind {
				case trace.Ask:
					now.Phase = script.Waits
				case trace.Enter:
					now.Phase = script.Inside
				case trace.Exit, trace.Deny:
					now.Phase = script.Idle
				}
			}
			if now.Phase != script.Idle {
				all = append(all, now)
			}
		}
	}
	return all
}

// stands says in which sections a process is, and for which one it waits, or nothing if it
// is idle.
func stands(all []script.Expectation, q algorithm.ID) string {
	var in, waits []string
	for _, e := range all {
		switch {
		case e.Proc != q:
		case e.Phase == script.Inside:
			in = append(in, e.Section)
		default:
			waits = append(waits, e.Section)
		}
	}
	var is []string
	if len(in) > 0 {
		is = append(is, "is inside "+strings.Join(in, " and "))
	}
	if len(waits) > 0 {
		is = append(is, "waits for "+strings.Join(waits, " and "))
	}
	if len(is) == 0 {
		return ""
	}
	return fmt.Sprintf("%v %s", q, strings.Join(is, " and "))
}
