package style

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
)

// TestCatalog demands that every algorithm names its author, year and source, and that
// every wrong one names the sound one that fixes it.
func TestCatalog(t *testing.T) {
	all := slices.Concat(catalog.All(), catalog.Elections())
	for _, s := range all {
		for _, wrong := range description(s, all) {
			t.Error(wrong)
		}
	}
}

// description says what is missing in the description of an algorithm.
func description(s algorithm.Spec, all []algorithm.Spec) []string {
	var missing []string
	miss := func(bad bool, what string) {
		if bad {
			missing = append(missing, fmt.Sprintf("catalog: %q has no %s", s.Name, what))
		}
	}
	miss(s.Name == "" || s.Name != strings.ToLower(s.Name) || strings.ContainsAny(s.Name, " _"), "name in lower case, with hyphens")
	miss(s.Title == "", "title")
	miss(s.Authors == "", "authors")
	miss(s.Year < 1965 || s.Year > 2030, "year")
	miss(!regexp.MustCompile(`\b(19|20)\d\d\b`).MatchString(s.Paper), "paper with a year")
	miss((s.Class == algorithm.Unclassed) != (s.Family == algorithm.Election), "class, as all but elections have")
	miss(len(s.Kinds) == 0, "message kinds")
	miss(s.Version < 1, "version of its bytes")
	miss(s.Theory.Order == "", "order in its theory")
	miss(s.Theory.Messages.Text == "", "messages in its theory")
	same := 0
	fixed := s.Sound()
	for _, o := range all {
		if o.Name == s.Name {
			same++
		}
		fixed = fixed || o.Name == s.Fixed && o.Sound()
	}
	miss(same != 1, "name of its own")
	miss(!s.Sound() && s.Shown == "", "command that shows it")
	miss(!fixed, "sound algorithm that mends it")
	return missing
}

func TestCatalogPlanted(t *testing.T) {
	good := algorithm.Spec{
		Name: "a-lock", Class: algorithm.Token, Title: "A lock", Authors: "Uthor", Year: 1985, Paper: "A Title. A Journal 3(2), 1985", Kinds: []string{"REQUEST"}, Version: 1,
		Theory: algorithm.Theory{Order: "none", Messages: algorithm.Cost{Text: "3"}},
	}
	if found := description(good, []algorithm.Spec{good}); len(found) != 0 {
		t.Errorf("a good description: found %q", found)
	}
	for want, spoil := range map[string]func(s *algorithm.Spec){
		"name in lower case": func(s *algorithm.Spec) { s.Name = "A Lock" },
		"title":              func(s *algorithm.Spec) { s.Title = "" },
		"authors":            func(s *algorithm.Spec) { s.Authors = "" },
		"year":               func(s *algorithm.Spec) { s.Year = 0 },
		"paper":              func(s *algorithm.Spec) { s.Paper = "A Title" },
		"class":              func(s *algorithm.Spec) { s.Class = algorithm.Unclassed },
		"class, as all but":  func(s *algorithm.Spec) { s.Family = algorithm.Election },
		"kinds":              func(s *algorithm.Spec) { s.Kinds = nil },
		"version":            func(s *algorithm.Spec) { s.Version = 0 },
		"order":              func(s *algorithm.Spec) { s.Theory.Order = "" },
		"messages":           func(s *algorithm.Spec) { s.Theory.Messages.Text = "" },
		"that mends it":      func(s *algorithm.Spec) { s.Wrong, s.Fixed, s.Shown = "it deadlocks", "nothing", "stile check it" },
		"that shows it":      func(s *algorithm.Spec) { s.Weaker, s.Fixed = "it is slow", "another" },
	} {
		bad, another := good, good
		another.Name = "another"
		spoil(&bad)
		if found := description(bad, []algorithm.Spec{bad, another}); len(found) != 1 || !strings.Contains(found[0], want) {
			t.Errorf("without %s: found %q", want, found)
		}
	}
	if found := description(good, []algorithm.Spec{good, good}); len(found) != 1 || !strings.Contains(found[0], "name of its own") {
		t.Errorf("two of one name: found %q", found)
	}
}
