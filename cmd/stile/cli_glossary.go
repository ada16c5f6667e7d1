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
		Short: "Say what the words mean that stile prints",
		Example: `  stile glossary fence alibi
  stile glossary`,
		RunE: func(c *cobra.Command, args []string) error {
			entries := entriesOf(docs.Glossary)
			for _, word := range args {
				if !slices.ContainsFunc(entries, func(e cliEntry) bool { return e.explains(word) }) {
					return fmt.Errorf("the glossary has no %q: 'stile glossary' prints all of it%s", word, spell.DidYouMean(word, wordsOf(entries)...))
				}
			}
			return Report{Text: func(p *Page) {
				first := true
				for _, e := range entries {
					if len(args) > 0 && !slices.ContainsFunc(args, e.explains) {
						continue
					}
					if !first {
						p.Gap()
					}
					first = false
					p.Text(0, e.text)
				}
			}}.Print(c.OutOrStdout(), false)
		},
		ValidArgs: wordsOf(entriesOf(docs.Glossary)),
	}
}

// An cliEntry of the glossary explains some words.
type cliEntry struct {
	words []string
	text  string // without marks
}

func (e cliEntry) explains(word string) bool {
	return slices.ContainsFunc(e.words, func(w string) bool { return strings.EqualFold(w, word) })
}

// entriesOf returns the entries of a page: the paragraphs that begin with words
// in bold, with what follows them up to the next.
func entriesOf(page string) []cliEntry {
	plain := strings.NewReplacer("**", "", "`", "", "*", "")
	var all []cliEntry
	for paragraph := range strings.SplitSeq(page, "\n\n") {
		bold, _, found := strings.Cut(strings.TrimPrefix(paragraph, "**"), "**")
		if !strings.HasPrefix(paragraph, "**") || !found {
			continue
		}
		e := cliEntry{text: plain.Replace(paragraph)}
		for word := range strings.SplitSeq(strings.TrimSuffix(plain.Replace(bold), "."), ", ") {
			e.words = append(e.words, word)
		}
		all = append(all, e)
	}
	return all
}

func wordsOf(entries []cliEntry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.words...)
	}
	return all
}
