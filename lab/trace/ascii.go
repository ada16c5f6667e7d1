package trace

import "strings"

// plain writes arrows in phrases as -> and <-, if required.
func (w *textWriter) plain(phrases []string) []string {
	if !w.o.ASCII {
		return phrases
	}
	arrows := strings.NewReplacer("→", "->", "←", "<-")
	for i := range phrases {
		phrases[i] = arrows.Replace(phrases[i])
	}
	return phrases
}
