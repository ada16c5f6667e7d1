package check

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/lab/internal/model"
)

// assumes returns what the verdicts rest on that a check can try, but not prove. Nothing is
// assumed if nothing holds: a counterexample is a real run.
func (r *run) assumes() []string {
	proved := func(p Property) bool { return p.Verdict == Holds || p.Verdict == HoldsBounded }
	if !slices.ContainsFunc(r.report.Properties, proved) {
		return nil
	}
	all := []string{"what a machine does depends only on its seat, state and inputs, not on chance or on the machines created before it"}
	if r.form() != (model.Form{}) {
		all = append(all, "it only compares, copies and increments its logical times and counters, whatever their numbers")
	}
	if p := r.report.Find(OrderOpen); p != nil && proved(*p) {
		all = append(all, "only a request advances a clock beyond all others, and hearing a time does nothing but advance one")
	}
	for _, kind := range r.unproved {
		all = append(all, fmt.Sprintf("a second %s changes nothing, however long after the first it arrives", kind))
	}
	return all
}
