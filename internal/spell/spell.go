// Package spell lists the possible words, and guesses which one a misspelt word was meant
// to be.
package spell

import "strings"

// DidYouMean returns the end of an error message that suggests the intended word, or
// nothing if none is close.
func DidYouMean(found string, words ...string) string {
	if w := Nearest(found, words...); w != "" {
		return "; did you mean " + w + "?"
	}
	return ""
}

// Nearest returns the word closest to found if it is at most two edits away, otherwise
// the first one that begins with it, otherwise nothing.
func Nearest(found string, words ...string) string {
	found = strings.ToLower(found)
	best, least := "", 3
	for _, w := range words {
		if d := distance(found, w); d < least && d < len(w) {
			best, least = w, d
		}
	}
	if best != "" || len(found) < 3 {
		return best
	}
	for _, w := range words {
		if strings.HasPrefix(w, found) {
			return w
		}
	}
	return ""
}

// distance counts the edits between two words.
func distance(a, b string) int {
	if len(a) > len(b)+3 {
		return len(a) // far anyway, and a may be very long
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// Either joins words as in a sentence: a, b or c.
func Either(words ...string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
