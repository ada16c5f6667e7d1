package style

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/world/family"
	"github.com/stile-lock/stile/internal/world/family/elections"
	"github.com/stile-lock/stile/internal/world/family/locks"
	"github.com/stile-lock/stile/internal/world/family/transactions"
)

// unexplained returns the properties and verdicts for which a glossary has no entry: a
// paragraph that begins with the word in bold.
func unexplained(glossary string) []string {
	var missing []string
	for _, f := range []*family.Family{locks.Family(), locks.Survivors(), elections.Family(), transactions.Config{}.Family()} {
		for _, name := range check.Properties(f) {
			if !strings.Contains(glossary, "\n\n**`"+name+"`** (") && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	for _, v := range []check.Verdict{check.Holds, check.HoldsBounded, check.NotChecked, check.Unfinished, check.Violated} {
		if !strings.Contains(glossary, "\n\n**"+string(v)+".** ") {
			missing = append(missing, string(v))
		}
	}
	return missing
}

func TestGlossary(t *testing.T) {
	page := readPage(t, "glossary.md")
	if missing := unexplained(page); len(missing) > 0 {
		t.Errorf("docs/glossary.md does not explain %q", missing)
	}
	for _, word := range []string{"fence", "one-victim", "unfinished"} {
		without := strings.NewReplacer("**`"+word+"`**", word, "**"+word+".**", word).Replace(page)
		if missing := unexplained(without); !slices.Equal(missing, []string{word}) {
			t.Errorf("without %s: found %q", word, missing)
		}
	}
}
