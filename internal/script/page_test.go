package script

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// words lists the words of the language.
func words() []string {
	all := slices.Concat(settings[:], transacting[:], expectedOf[:], Properties())
	for _, v := range verbs {
		all = append(all, v.word)
	}
	for _, o := range orders {
		all = append(all, o.word)
	}
	return append(all, strings.Fields(`at expect busy fifo unordered duplicating lossy manual timed steps exp uniform among for by all 2nd
		entries messages bypass violation no deadlock when enters waits inside idle is none takes goes on expires suspects has`)...)
}

// undocumented returns the words that stand in no piece of code of a page.
func undocumented(page string) []string {
	spans := strings.Join(regexp.MustCompile("(?s)```.*?```|`[^`]+`").FindAllString(page, -1), "\n")
	return slices.DeleteFunc(words(), func(w string) bool {
		return regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(w) + `($|[^\w-])`).MatchString(spans)
	})
}

func TestPageHasEveryWord(t *testing.T) {
	data, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	if missing := undocumented(page); len(missing) > 0 {
		t.Errorf("docs/scenarios.md does not show the words %q", missing)
	}
	if missing := undocumented(strings.ReplaceAll(page, "backoff", "")); !slices.Equal(missing, []string{"backoff"}) {
		t.Errorf("without backoff: missing %q", missing)
	}
}
