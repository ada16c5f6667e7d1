package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/lab/internal/glossary"
)

func newGlossary() *cobra.Command {
	return &cobra.Command{
		Use:   "glossary [WORD...]",
		Short: "Explain the words that stile prints",
		Long: `Explain the words that stile prints. Terms of lectures in Czech, Polish and
German are known too.`,
		Example: `  stile-lab glossary fence alibi
  stile-lab glossary živost żeton
  stile-lab glossary`,
		RunE: func(c *cobra.Command, args []string) error {
			entries := glossary.Entries()
			for _, word := range args {
				if !slices.ContainsFunc(entries, func(e glossary.Entry) bool { return e.Explains(word) }) {
					return fmt.Errorf("%q is not in the glossary: 'stile-lab glossary' prints all entries%s", word, spell.DidYouMean(word, glossaryWords(entries, true)...))
				}
			}
			return terminal.Outcome{Text: func(p *terminal.Printer) {
				first := true
				for _, e := range entries {
					if len(args) > 0 && !slices.ContainsFunc(args, e.Explains) {
						continue
					}
					if !first {
						p.Gap()
					}
					first = false
					p.Text(0, e.Text)
				}
			}}.Print(c.OutOrStdout(), false)
		},
		ValidArgs: glossaryWords(glossary.Entries(), false),
	}
}

// glossaryWords returns the words that the glossary explains, in English or in every
// language.
func glossaryWords(entries []glossary.Entry, foreign bool) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Words...)
		if foreign {
			all = append(all, e.Foreign...)
		}
	}
	return all
}
