package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
)

// The initial holder makes a difference to these algorithms, and to no other.
func TestHolderMatters(t *testing.T) {
	holders := strings.Fields(`token-ring token-ring-lazy carvalho-roucairol suzuki-kasami ricart-agrawala-token raymond
		dijkstra naimi-trehel raymond-greedy raymond-printed raymond-initialize`)
	for _, s := range catalog.All() {
		if held, err := holderMatters(s, 5); err != nil || held != slices.Contains(holders, s.Name) {
			t.Errorf("%s: %v, %v", s.Name, held, err)
		}
	}
}

// Each topology that is completed belongs to some algorithm.
func TestTopologies(t *testing.T) {
	specs := slices.Concat(catalog.All(), catalog.Elections())
	for _, word := range catalog.Topologies("") {
		if !slices.ContainsFunc(specs, func(s algorithm.Spec) bool {
			_, err := catalog.Make(s.Name, algorithm.Options{Topology: word})
			return err == nil
		}) {
			t.Errorf("no algorithm has the topology %s", word)
		}
	}
}

// No text flag takes empty text.
func TestTextFlagRefusesEmpty(t *testing.T) {
	var to string
	for _, v := range []pflag.Value{processListFlag(&to), choicesFlag(&to, []string{"a", "b"}, nil, "all")} {
		for _, s := range []string{"", " ", "\t\n"} {
			if err := v.Set(s); err == nil || !strings.HasPrefix(err.Error(), "must be ") {
				t.Errorf("%T takes %q: %v", v, s, err)
			}
		}
	}
}

// Several takes a word that stands alone, or other words, each once.
func TestChoicesFlag(t *testing.T) {
	var to string
	v := choicesFlag(&to, []string{"raymond", "central"}, func(word string) string {
		if word == "bully" {
			return "bully is an election"
		}
		return ""
	}, "all", "none")
	for _, s := range []string{"all", "none", "raymond", "central,raymond"} {
		if err := v.Set(s); err != nil || to != s {
			t.Errorf("%q: set to %q, %v", s, to, err)
		}
	}
	for s, want := range map[string]string{
		"raymon": "did you mean raymond?", "raymond,raymond": "raymond", "all,raymond": "raymond,central", "raymond,": "all",
		",": "all", "central,bully": "bully", "raymond central": "all",
	} {
		if err := v.Set(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", s, err, want)
		}
	}
}
