// Package glossary reads docs/glossary.md: what the words of stile mean, and what lectures
// in other languages call the same things.
package glossary

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/docs"
)

// An Entry explains one or more words.
type Entry struct {
	Words   []string // the words that it explains, in bold on the page
	Foreign []string // terms of lectures in other languages for the same
	Names   []string // names in code that it mentions, such as properties
	Text    string   // the entry without Markdown
}

// Explains reports whether the entry is about this word, in any of the languages.
func (e Entry) Explains(word string) bool {
	is := func(w string) bool { return strings.EqualFold(w, word) }
	return slices.ContainsFunc(e.Words, is) || slices.ContainsFunc(e.Foreign, is)
}

// Entries returns the entries of the page.
func Entries() []Entry { return parse(docs.Glossary) }

// parse returns the paragraphs of a page that begin with words in bold. A paragraph may
// end with terms of other languages: *Czech: term, term. Polish: term.*
func parse(page string) []Entry {
	plain := strings.NewReplacer("**", "", "`", "", "*", "")
	var all []Entry
	for paragraph := range strings.SplitSeq(page, "\n\n") {
		bold, _, found := strings.Cut(strings.TrimPrefix(paragraph, "**"), "**")
		if !strings.HasPrefix(paragraph, "**") || !found {
			continue
		}
		e := Entry{
			Words: strings.Split(strings.TrimSuffix(plain.Replace(bold), "."), ", "),
			Text:  plain.Replace(paragraph),
		}
		line := strings.Join(strings.Fields(paragraph), " ")
		for _, language := range []string{"Czech: ", "Polish: ", "German: "} {
			if _, after, found := strings.Cut(line, language); found {
				terms, _, _ := strings.Cut(after, ".")
				e.Foreign = append(e.Foreign, strings.Split(terms, ", ")...)
			}
		}
		for i, name := range strings.Split(line, "`") {
			if inCode := i%2 == 1; inCode && !slices.Contains(e.Names, name) {
				e.Names = append(e.Names, name)
			}
		}
		all = append(all, e)
	}
	return all
}

// Terms returns the words and foreign terms of the entries that a text is about: it has
// one of their words, or one of the names in code that they mention.
func Terms(entries []Entry, text string) []string {
	text = strings.ToLower(text)
	var all []string
	for _, e := range entries {
		about := func(word string) bool { return hasWord(text, strings.ToLower(word)) }
		if slices.ContainsFunc(e.Words, about) || slices.ContainsFunc(e.Names, about) {
			all = append(all, slices.Concat(e.Words, e.Foreign)...)
		}
	}
	return all
}

// hasWord reports whether a text has a word that is not part of a longer one.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !letter(text[start-1])) && (end == len(text) || !letter(text[end])) {
			return true
		}
		from = end
	}
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 0x80 }
