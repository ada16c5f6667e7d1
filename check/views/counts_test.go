package views

// runs are what is explored every day: algorithm, setting, states, transitions,
// depth, and whether to see that every run ends.
func runs() []run {
	return []run{
		{"central", "home evicted", 17576, 54027, 21, true},
		{"central", "home evicted, to c", 17450, 53596, 21, true},
		{"central", "b evicted", 23355, 67032, 22, true},
		{"central", "c evicted", 23355, 67032, 22, true},
		{"central", "home evicted, twice each", 1053917, 3694791, 33, false},
		{"central", "two evicted", 194155, 785635, 24, false},
		{"central", "nobody evicted", 131372, 458935, 26, false},
		{"naimi-trehel", "home evicted", 21272, 62892, 22, true},
		{"naimi-trehel", "home evicted, to c", 21108, 62380, 22, true},
		{"naimi-trehel", "b evicted", 21615, 63896, 23, true},
		{"naimi-trehel", "c evicted", 21615, 63896, 23, true},
		{"naimi-trehel", "home evicted, twice each", 1349111, 4556700, 35, false},
		{"naimi-trehel", "two evicted", 231049, 914501, 26, false},
		{"naimi-trehel", "nobody evicted", 129265, 455731, 27, false},
		{"naimi-trehel", "home evicted, all", 690882, 3035732, 28, false},
		{"naimi-trehel", "other algorithm", 129597, 456001, 27, false},
		{"raymond", "home evicted", 20391, 60700, 22, false},
		{"ricart-agrawala", "home evicted", 126799, 405968, 29, false},
		{"suzuki-kasami", "home evicted", 108660, 356832, 23, false},
		{"maekawa", "home evicted", 143540, 471298, 31, false},
		{"carvalho-roucairol", "home evicted", 88201, 279236, 27, false},
		{"token-ring-lazy", "home evicted", 34787, 112207, 25, false},
		{"ricart-agrawala-token", "home evicted", 100916, 329830, 23, false},
	}
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
	for _, s := range []string{"two homes evicted", "home leaves", "a home joins", "a home joins, is evicted", "b evicted, twice each", "b evicted, all", "home evicted, handover", "nothing, then c evicted", "home evicted, another joins", "home evicted, twice, cancel"} {
		for _, alg := range []string{"central", "naimi-trehel"} {
			all = append(all, run{alg, s, 0, 0, 0, s == "b evicted, twice each"})
		}
	}
	return all
}
