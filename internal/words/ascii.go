package words

import "strings"

// asciiGlyphs lists the characters that diagrams and tables are drawn with, each followed
// by its replacement on terminals limited to ASCII.
const asciiGlyphs = "┊:┃|█#‖=●*○o✗X×x▄#▀#►>◄<▶>◀<├+┤+┠+┨+┼+╂+─-▓!·;→>←<²2▇#…~∞*"

// ASCII returns s without any byte above 127, character for character, so that columns
// stay aligned: drawing characters have replacements, and all others become question
// marks.
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
