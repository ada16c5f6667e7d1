package document

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A finder finds an algorithm by its name: see Options.
type finder = func(name string, o algorithm.Options) (algorithm.Spec, error)

// blamed attributes err to the line that prevents the scenario from having a runnable
// algorithm: the option without which it has one, the number of processes, or the algorithm
// itself.
func blamed(sc *scenario.Scenario, find finder, err error) error {
	guilty := "algorithm"
	if _, err := specOf(sc, find); err == nil {
		guilty = "processes"
	}
	for _, word := range [...]string{"topology", "sets", "inform", "k", "coordinator", "experiment", "patience", "mode"} {
		if sc.Said[word] == 0 {
			continue
		}
		if _, err := acceptable(without(sc, word), find); err == nil {
			guilty = word
			break
		}
	}
	if line := sc.Said[guilty]; line > 0 {
		return &sim.LineError{Line: line, Err: err}
	}
	return err
}

// acceptable returns the algorithm of a scenario if it can run with that many processes.
func acceptable(sc *scenario.Scenario, find finder) (algorithm.Spec, error) {
	spec, err := specOf(sc, find)
	if err == nil && len(sc.Sections) == 0 && !sc.Transacts() { // these have sizes of their own
		err = spec.Accepts(sc.Processes)
	}
	return spec, err
}

// without returns a scenario without one of its options.
func without(sc *scenario.Scenario, word string) *scenario.Scenario {
	less := *sc
	switch word {
	case "topology":
		less.Topology = ""
	case "sets":
		less.Sets = ""
	case "inform":
		less.Inform = ""
	case "k":
		less.K = 0
	case "coordinator":
		less.Coordinator = 0
	case "experiment":
		less.Experiment = false
	case "patience":
		less.Patience = 0
	case "mode":
		less.Mode = ""
	}
	return &less
}
