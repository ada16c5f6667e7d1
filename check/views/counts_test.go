package views

func runs() []run {
	var all []run
	for _, alg := range []string{"central", "naimi-trehel"} {
		for _, s := range []string{"home evicted", "home evicted, to c", "b evicted", "c evicted"} {
			all = append(all, run{alg, s, 0, 0, 0, true})
		}
		for _, s := range []string{"home evicted, twice each", "two evicted", "nobody evicted"} {
			all = append(all, run{alg, s, 0, 0, 0, false})
		}
	}
	all = append(all, run{"naimi-trehel", "home evicted, all", 0, 0, 0, false})
	all = append(all, run{"naimi-trehel", "other algorithm", 0, 0, 0, false})
	for _, alg := range []string{"raymond", "ricart-agrawala", "suzuki-kasami", "maekawa", "carvalho-roucairol", "token-ring-lazy", "ricart-agrawala-token"} {
		for _, s := range []string{"home evicted"} {
			all = append(all, run{alg, s, 0, 0, 0, false})
		}
	}
	return all
}

func longRuns() []run {
	var all []run
	for _, alg := range []string{"raymond", "ricart-agrawala", "suzuki-kasami", "maekawa", "lamport", "carvalho-roucairol", "token-ring-lazy", "ricart-agrawala-token"} {
		for _, s := range []string{"home evicted", "b evicted", "c evicted"} {
			if alg == "lamport" || s != "home evicted" {
				all = append(all, run{alg, s, 0, 0, 0, false})
			}
		}
	}
	all = append(all, run{"central", "home evicted, all", 0, 0, 0, false})
	for _, s := range []string{"two homes evicted", "home leaves", "a home joins", "a home joins, is evicted", "b evicted, twice each", "b evicted, all", "home evicted, handover", "home evicted, twice, cancel", "nothing, then c evicted", "home evicted, another joins"} {
		for _, alg := range []string{"central", "naimi-trehel"} {
			all = append(all, run{alg, s, 0, 0, 0, s == "b evicted, twice each"})
		}
	}
	return all
}
