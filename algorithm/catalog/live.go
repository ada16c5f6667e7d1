package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/spell"
)

// live returns the names of the algorithms that a live member may run, the default first.
func live() []string {
	return []string{
		"naimi-trehel", "central", "raymond", "token-ring-lazy", "suzuki-kasami", "ricart-agrawala-token",
		"carvalho-roucairol", "ricart-agrawala", "lamport", "maekawa",
	}
}

// unlively returns, for each sound algorithm that is not live, the reason.
func unlively() []struct{ name, why string } {
	const (
		restless = "an idle lock keeps sending messages"
		unsure   = "it can seldom prove that a process is not inside, so after a crash most locks wait until the lease of the crashed member expires"
	)
	return []struct{ name, why string }{
		{"central-deny", "a request is denied instead of waiting"},
		{"central-stamped", "it has no advantage over central"},
		{"token-ring", restless},
		{"dijkstra", restless},
		{"bakery-polling", "waiting processes keep sending messages"},
		{"bakery", unsure},
		{"majority", unsure},
		{"sanders", unsure},
		{"maekawa-reject", "one quorum algorithm is enough, and maekawa is the one that was tested"},
	}
}

// Live returns the algorithms that a live member may run, each with its default options,
// the default algorithm first. They run among any number of processes, from a View with
// Busy, on links that preserve the order of sending. A host gives them only Request,
// Release and Receive: they need neither Start nor timers, and they fall silent while no
// process requests or leaves.
func Live() []algorithm.Spec {
	all := All()
	var list []algorithm.Spec
	for _, name := range live() {
		list = append(list, all[slices.IndexFunc(all, func(s algorithm.Spec) bool { return s.Name == name })])
	}
	return list
}

// MakeLive returns the algorithm with the given name, if a live member may run it and its
// bytes have the given version in this build: see algorithm.Spec.Version.
func MakeLive(name string, version int) (algorithm.Spec, error) {
	spec, err := Make(name, algorithm.Options{})
	if err != nil {
		return algorithm.Spec{}, fmt.Errorf("this build has no algorithm %q for live locks: choose one of %s%s",
			name, strings.Join(live(), ", "), spell.DidYouMean(name, live()...))
	}
	if why := NotLive(spec); why != "" {
		return algorithm.Spec{}, fmt.Errorf("%s does not run live: %s; choose one of %s", name, why, strings.Join(live(), ", "))
	}
	if spec.Version != version {
		return algorithm.Spec{}, fmt.Errorf("version %d of the encoding of %s was requested, but this build has version %d: run builds with the same version on all members, or choose another algorithm",
			version, name, spec.Version)
	}
	return spec, nil
}

// NotLive returns the reason why no live member may run the algorithm, or "" if one may.
func NotLive(s algorithm.Spec) string {
	is := func(e struct{ name, why string }) bool { return e.name == s.Name }
	list := unlively()
	switch i := slices.IndexFunc(list, is); {
	case slices.Contains(live(), s.Name):
		return ""
	case s.Family != algorithm.MutualExclusion:
		return "it is " + s.Family.One() + ", not a lock"
	case s.Wrong != "":
		return "it is wrong: " + s.Wrong
	case s.Weaker != "":
		return "it is weaker than " + s.Fixed + ": " + s.Weaker
	case s.Detects:
		return "it elects a leader when a process crashes, which is the task of the view service"
	case i >= 0:
		return list[i].why
	}
	return "it is not in the catalog"
}
