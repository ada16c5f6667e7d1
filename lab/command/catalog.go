package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/spell"
)

// findAlgorithm makes an algorithm by its name. For the name of something else, the
// error says which command takes it.
func findAlgorithm(name string, o algorithm.Options) (algorithm.Spec, error) {
	spec, err := catalog.Make(name, o)
	if other := otherUse(name); err != nil && other != "" && !isAlgorithm(name) {
		err = errors.New(other)
	}
	return spec, err
}

// findMethod finds a method against deadlock in the same way.
func findMethod(name string) (deadlock.Method, error) {
	m, err := deadlock.Find(name)
	if other := otherUse(name); err != nil && other != "" {
		err = errors.New(other)
	}
	return m, err
}

// checkKnown refuses a name that is neither an algorithm nor a method, and suggests
// the nearest of both.
func checkKnown(name string) error {
	if isAlgorithm(name) || isMethod(name) || strings.Contains(name, "+") {
		return nil
	}
	if other := otherUse(name); other != "" {
		return errors.New(other)
	}
	return fmt.Errorf("unknown algorithm or method %q: 'stile-lab algorithms' and 'stile-lab deadlock --help' list them%s",
		name, spell.DidYouMean(name, slices.Concat(algorithmNames(), methodNames())...))
}

// otherUse says what a name stands for and which command takes it, or returns "" if
// it is unknown.
func otherUse(name string) string {
	switch spec, err := catalog.Make(name, algorithm.Options{}); {
	case isMethod(name):
		return fmt.Sprintf("%s is %s: 'stile-lab deadlock %s' runs it", name, algorithm.Transactions.One(), name)
	case err == nil:
		return fmt.Sprintf("%s is %s: 'stile-lab sim %s' runs it", name, spec.Family.One(), name)
	case filepath.Ext(name) == ".stile":
		return fmt.Sprintf("%q is a scenario file: 'stile-lab replay' runs it", name)
	}
	return ""
}

func isMethod(name string) bool {
	_, err := deadlock.Find(name)
	return err == nil
}

func isAlgorithm(name string) bool {
	_, err := catalog.Make(name, algorithm.Options{})
	return err == nil
}

// methodNames lists the methods against deadlock.
func methodNames() []string {
	var names []string
	for _, m := range deadlock.Methods() {
		names = append(names, m.Name)
	}
	return names
}

// modeNames lists the modes of all methods.
func modeNames() []string {
	var all []string
	for _, m := range deadlock.Methods() {
		all = append(all, m.Modes...)
	}
	return all
}

// lockNames lists the algorithms for one lock.
func lockNames() []string { return specNames(catalog.All()) }

func algorithmNames() []string { return specNames(catalog.Every()) }

// liveNames lists the algorithms that a live cluster can run, the default first.
func liveNames() []string { return specNames(catalog.Live()) }

func specNames(specs []algorithm.Spec) []string {
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	return names
}

// holderMatters reports whether the initial holder of the lock makes a difference to
// an algorithm among n processes: whether the holder behaves differently from
// another process when it starts and makes a request.
func holderMatters(spec algorithm.Spec, n int) (bool, error) {
	birth, err := spec.Birth(n)
	if err != nil || n < 2 {
		return true, err
	}
	const self = 1
	has, lacks := birth(self, algorithm.View{N: n, Holder: self}), birth(self, algorithm.View{N: n, Holder: 0})
	for _, kind := range []host.InputKind{host.Start, host.Request} {
		var one, other host.Output
		if err := errors.Join(has.Step(host.Input{Kind: kind}, &one), lacks.Step(host.Input{Kind: kind}, &other)); err != nil {
			return true, err
		}
		if one.Entered != other.Entered || !slices.Equal(one.Sends, other.Sends) {
			return true, nil
		}
	}
	return false, nil
}

// completeAlgorithm completes one algorithm or election, a lock and an election
// joined by a plus, or one of the other words.
func completeAlgorithm(other ...string) cobra.CompletionFunc {
	return firstArgOnly(completeNames(slices.Concat(algorithmNames(), other)))
}

// completeMethod completes one method against deadlock.
func completeMethod() cobra.CompletionFunc { return firstArgOnly(completeNames(methodNames())) }

// completeRemaining completes names that are not among the arguments yet.
func completeRemaining(all []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		left := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(args, name) })
		return completeNames(left)(c, args, begun)
	}
}

// firstArgOnly completes only the first argument.
func firstArgOnly(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(c, args, begun)
	}
}

// completeNames completes names and, after a plus, elections to combine them with.
func completeNames(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		lock, _, plus := strings.Cut(begun, "+")
		if !plus {
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		var both []string
		for _, e := range specNames(catalog.Elections()) {
			if isAlgorithm(lock + "+" + e) {
				both = append(both, lock+"+"+e)
			}
		}
		return both, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTopology completes the topologies of the named algorithm.
func completeTopology(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	return catalog.Topologies(name), cobra.ShellCompDirectiveNoFileComp
}
