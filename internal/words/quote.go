package words

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quoted returns a name as it is, or in quotes, with escapes as in Go, if it has anything
// that a reader could not see or that a terminal would obey.
func Quoted(name string) string {
	if name != strings.TrimSpace(name) || strings.HasPrefix(name, `"`) || name != Printable(name) {
		return strconv.Quote(name)
	}
	return name
}

// Printable returns a text with escapes, as in Go, for all characters that are not printable.
func Printable(text string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !strconv.IsPrint(r) || r == utf8.RuneError && size == 1 {
			escape := strconv.Quote(text[i : i+size])
			b.WriteString(text[from:i])
			b.WriteString(escape[1 : len(escape)-1])
			from = i + size
		}
		i += size
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}
