package views

func runs() []run {
	var all []run
	for _, alg := range []string{"central", "naimi-trehel"} {
		for _, s := range []string{"home evicted", "home evicted, to c", "b evicted", "c evicted", "home evicted, twice each", "home evicted, all", "two evicted", "two homes evicted", "home leaves", "nobody evicted", "a home joins", "a home joins, is evicted", "other algorithm", "home evicted, handover"} {
			all = append(all, run{alg, s, 0, 0, 0, false})
		}
	}
	for _, alg := range []string{"raymond", "ricart-agrawala", "suzuki-kasami", "maekawa", "lamport", "carvalho-roucairol", "token-ring-lazy", "ricart-agrawala-token"} {
		for _, s := range []string{"home evicted", "b evicted", "c evicted"} {
			all = append(all, run{alg, s, 0, 0, 0, false})
		}
	}
	return all
}

func longRuns() []run { return nil }
