package words

import "strings"

// asciiGlyphs lists the characters that diagrams and tables are drawn with, each followed
// by its replacement on terminals limited to ASCII.
const asciiGlyphs = "┊:┃|█#‖=●*○o✗X×x▄#▀#►>◄<▶>◀<├+┤+┠+┨+┼+╂+─-▓!·;→>←<²2▇#…~∞*"

// asciiLetters lists the letters of Czech, Polish and German terms, each followed by the
// letter without its mark.
const asciiLetters = "áačcďdéeěeíiňnóořršsťtúuůuýyžząaćcęełlńnśsźzżzäaöoüußs"

// ASCII returns s without any byte above 127, character for character, so that columns
// stay aligned: drawing characters and letters with marks have replacements, and all
// others become question marks.
func ASCII(s string) string {
	glyphs := []rune(asciiGlyphs + asciiLetters + strings.ToUpper(asciiLetters))
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
