package glossary

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	const page = "# Page\n\nNo entry.\n\n**token, baton.** One `token` and an\n`order`.\n*Czech: příznak, pešek. German:\nPrivileg.*\n\n**`order`** (locks). ME3.\n"
	all := parse(page)
	if len(all) != 2 {
		t.Fatalf("%d entries: %v", len(all), all)
	}
	e := all[0]
	if !slices.Equal(e.Words, []string{"token", "baton"}) || !slices.Equal(e.Foreign, []string{"příznak", "pešek", "Privileg"}) ||
		!slices.Equal(e.Names, []string{"token", "order"}) {
		t.Errorf("got %+v", e)
	}
	for word, want := range map[string]bool{"Baton": true, "PŘÍZNAK": true, "privileg": true, "One": false, "": false} {
		if e.Explains(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}

// No term of a lecture is explained twice, so that each has one answer.
func TestOnce(t *testing.T) {
	seen := map[string]string{}
	for _, e := range Entries() {
		for _, term := range e.Foreign {
			if other := seen[term]; other != "" {
				t.Errorf("%s is explained under %s and under %s", term, other, e.Words[0])
			}
			seen[term] = e.Words[0]
		}
	}
	if len(seen) < 80 {
		t.Errorf("only %d terms of lectures: how are they written?", len(seen))
	}
}

func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"expect violation mutual-exclusion": "safety",
		"Two are stuck: a deadlock.":        "zakleszczenie",
		"expect violation lost-request":     "živost",
	} {
		if got := Terms(Entries(), text); !slices.Contains(got, want) {
			t.Errorf("%q: no %s in %q", text, want, got)
		}
	}
	if got := Terms(Entries(), "undeadlocked tokenish"); slices.Contains(got, "zakleszczenie") || slices.Contains(got, "żeton") {
		t.Errorf("parts of words count: %q", got)
	}
}
