package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/docs"
	"github.com/stile-lock/stile/internal/spell"
)

func newGlossary() *cobra.Command {
	return &cobra.Command{
		Use:   "glossary [WORD...]",
		Short: "Explain the words that stile prints",
		Example: `  stile glossary fence alibi
  stile glossary`,
		RunE: func(c *cobra.Command, args []string) error {
			entries := glossaryEntries(docs.Glossary)
			for _, word := range args {
				if !slices.ContainsFunc(entries, func(e glossaryEntry) bool { return e.explains(word) }) {
					return fmt.Errorf("%q is not in the glossary: 'stile glossary' prints all entries%s", word, spell.DidYouMean(word, glossaryWords(entries)...))
				}
			}
			return outcome{text: func(p *printer) {
				first := true
				for _, e := range entries {
					if len(args) > 0 && !slices.ContainsFunc(args, e.explains) {
						continue
					}
					if !first {
						p.gap()
					}
					first = false
					p.text(0, e.text)
				}
			}}.print(c.OutOrStdout(), false)
		},
		ValidArgs: glossaryWords(glossaryEntries(docs.Glossary)),
	}
}

// A glossaryEntry explains one or more words.
type glossaryEntry struct {
	words []string
	text  string // without Markdown
}

func (e glossaryEntry) explains(word string) bool {
	return slices.ContainsFunc(e.words, func(w string) bool { return strings.EqualFold(w, word) })
}

// glossaryEntries returns the entries of a page: the paragraphs that begin with
// words in bold.
func glossaryEntries(page string) []glossaryEntry {
	plain := strings.NewReplacer("**", "", "`", "", "*", "")
	var all []glossaryEntry
	for paragraph := range strings.SplitSeq(page, "\n\n") {
		bold, _, found := strings.Cut(strings.TrimPrefix(paragraph, "**"), "**")
		if !strings.HasPrefix(paragraph, "**") || !found {
			continue
		}
		e := glossaryEntry{text: plain.Replace(paragraph)}
		for word := range strings.SplitSeq(strings.TrimSuffix(plain.Replace(bold), "."), ", ") {
			e.words = append(e.words, word)
		}
		all = append(all, e)
	}
	return all
}

func glossaryWords(entries []glossaryEntry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.words...)
	}
	return all
}
