package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm/catalog"
)

// OfferAlgorithms offers one algorithm, election or, after a plus, lock that
// survives deaths, and the other words.
func OfferAlgorithms(other ...string) cobra.CompletionFunc {
	return first(offer(slices.Concat(algorithms(), other)))
}

// OfferMethods offers one method against deadlock.
func OfferMethods() cobra.CompletionFunc { return first(offer(Methods())) }

// OfferEach offers names that are not among the arguments yet.
func OfferEach(all []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		left := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(args, name) })
		return offer(left)(c, args, begun)
	}
}

// first offers only a first argument.
func first(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(c, args, begun)
	}
}

// offer offers names, and what they can be with an election.
func offer(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		lock, _, plus := strings.Cut(begun, "+")
		if !plus {
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		var both []string
		for _, e := range askNamed(catalog.Elections()) {
			if isAlgorithm(lock + "+" + e) {
				both = append(both, lock+"+"+e)
			}
		}
		return both, cobra.ShellCompDirectiveNoFileComp
	}
}

// offerTopologies offers those that the algorithm knows which was named.
func offerTopologies(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	return catalog.Topologies(name), cobra.ShellCompDirectiveNoFileComp
}
