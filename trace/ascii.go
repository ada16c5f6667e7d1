package trace

import "strings"

// asciiGlyphs lists what diagrams and tables are drawn with, and what is in its place on
// terminals that know only ASCII.
const asciiGlyphs = "┊:┃|█#‖=●*○o✗X×x▄#▀#►>◄<▶>◀<├+┤+┠+┨+┼+╂+─-▓!·;→>←<²2▇#…~∞*"

// ASCII writes a text without any byte above 127, one character for one, so
// that columns stay where they are: what diagrams are drawn with has something
// in its place, and all else becomes a question mark.
func ASCII(s string) string {
	glyphs := []rune(asciiGlyphs)
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return r
		}
		for i := 0; i < len(glyphs); i += 2 {
			if glyphs[i] == r {
				return glyphs[i+1]
			}
		}
		return '?'
	}, s)
}

// plain writes arrows in phrases as -> and <-, if that must be.
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
