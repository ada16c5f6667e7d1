package catalog

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/spell"
)

// sanders makes Sanders' algorithm over the sets that o selects.
func sanders(o algorithm.Options) (algorithm.Spec, error) {
	st, err := structure(o)
	if err != nil {
		return algorithm.Spec{}, err
	}
	spec := mutex.Sanders(st)
	if o.Experiment {
		spec = mutex.SandersExperiment(st)
	}
	switch o.Topology {
	case "maekawa":
		spec.Class = algorithm.Quorum
		spec.Shape.Picture = algorithm.Grid
	case "central":
		spec.Class = algorithm.Central
		spec.Shape.Picture = algorithm.Star
	}
	spec.Theory.Symmetric = o.Topology != "central" && o.Sets == ""
	return spec, nil
}

// structure returns the request and inform sets that o selects, by default those of
// Ricart and Agrawala. Sets given without inform sets serve as both.
func structure(o algorithm.Options) (mutex.StructureOf, error) {
	if o.Sets != "" || o.Inform != "" {
		return givenStructure(o)
	}
	switch o.Topology {
	case "", "ricart-agrawala":
		return mutex.AskAll, nil
	case "maekawa":
		return mutex.AskQuorum(quorum.Grid), nil
	case "central":
		return mutex.AskCoordinator(0), nil
	}
	return nil, fmt.Errorf("unknown topology %q: want ricart-agrawala, maekawa or central%s", o.Topology, spell.DidYouMean(o.Topology, "ricart-agrawala", "maekawa", "central"))
}

// requestSets returns only the request sets.
func requestSets(o algorithm.Options) (quorum.Builder, error) {
	build, err := structure(o)
	return func(n int) (quorum.System, error) {
		st, err := build(n)
		return st.Request, err
	}, err
}

func givenStructure(o algorithm.Options) (mutex.StructureOf, error) {
	if o.Topology != "" {
		return nil, fmt.Errorf("give a topology or sets, not both")
	}
	if o.Sets == "" {
		return nil, fmt.Errorf("inform sets without request sets: give both")
	}
	request, err := ParseSets(o.Sets)
	if err != nil {
		return nil, err
	}
	inform := request
	if o.Inform != "" {
		if inform, err = ParseSets(o.Inform); err != nil {
			return nil, fmt.Errorf("inform: %w", err)
		}
	}
	return mutex.AskGiven(mutex.Structure{Request: request, Inform: inform}), nil
}
