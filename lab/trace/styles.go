package trace

import (
	"slices"
	"strings"
	"unicode"

	"github.com/stile-lock/stile/internal/draw"
)

// A KindStyle is how messages of one kind are drawn. The colour, the dashes and the
// letter say the same thing three times, so no reader depends on colours.
type KindStyle struct {
	Name   string `json:"name"`
	Letter string `json:"letter"` // short name, where there is no room for the full one
	Colour string `json:"colour"` // on white
	Dark   string `json:"dark"`   // on a dark page
	Dash   string `json:"dash"`   // lengths of dashes and gaps in pixels; empty is a solid line
	Heavy  bool   `json:"heavy"`  // whether the line is wide: the token
	Slot   int    `json:"slot"`   // number among all styles
}

// palette returns the styles of messages. The colours are based on Okabe and Ito,
// darkened for thin lines. Their bluish green, orange and vermilion are not among them:
// in all pictures those mean inside, waiting and violation.
func palette() []KindStyle {
	return []KindStyle{
		{Slot: 0, Colour: "#0072b2", Dark: "#56b4e9"},
		{Slot: 1, Colour: "#8a5a00", Dark: "#d9b36c", Dash: "5 3"},
		{Slot: 2, Colour: "#1a1a1a", Dark: "#e8e8ec", Dash: "1.5 3"},
		{Slot: 3, Colour: "#4a8fb8", Dark: "#a6d3ee", Dash: "9 3"},
		{Slot: 4, Colour: "#5b5f97", Dark: "#aeb1e0", Dash: "7 3 1.5 3"},
		{Slot: 5, Colour: "#6b6b00", Dark: "#f0e442", Dash: "3 3"},
		{Slot: 6, Colour: "#7d7d86", Dark: "#b8b8c0", Dash: "12 4"},
		{Slot: 7, Colour: "#003f66", Dark: "#8ec5ff", Dash: "2 2"},
		{Slot: 8, Colour: "#5c4a2e", Dark: "#cbb994", Dash: "6 2 2 2"},
		{Slot: 10, Colour: "#3d3d45", Dark: "#d0d0d8", Dash: "4 2"},
		{Slot: 11, Colour: "#7a6fae", Dark: "#c9c2f0", Dash: "10 3 2 3"},
	}
}

// tokenStyle returns the style reserved for tokens.
func tokenStyle() KindStyle {
	return KindStyle{Slot: 9, Colour: "#701458", Dark: "#cc79a7", Heavy: true}
}

// kindStyles gives each kind a style: a token its own, the others theirs in order. Styles
// repeat if there are too many kinds.
func kindStyles(kinds []string) []KindStyle {
	styles := make([]KindStyle, len(kinds))
	all, letters := palette(), letterNames(kinds)
	next := 0
	for i, k := range kinds {
		if isToken(k) {
			styles[i] = tokenStyle()
		} else {
			styles[i] = all[next%len(all)]
			next++
		}
		styles[i].Name, styles[i].Letter = draw.Clean(k), letters[i]
	}
	return styles
}

func isToken(kind string) bool {
	k := strings.ToUpper(kind)
	return strings.Contains(k, "TOKEN") || strings.Contains(k, "PRIVILEGE")
}

// letterNames gives each kind its first letter as a short name. Kinds that begin alike
// get a second letter, the first in which they differ from all others: REQUEST and
// RELEASE are Rq and Rl.
func letterNames(kinds []string) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = letterName([]rune(draw.Clean(k)), i, kinds)
		if slices.Contains(names[:i], names[i]) {
			names[i] = draw.Clean(k)
		}
	}
	return names
}

func letterName(k []rune, i int, kinds []string) string {
	if len(k) == 0 {
		return "?"
	}
	var rivals [][]rune
	for j, other := range kinds {
		if o := []rune(draw.Clean(other)); j != i && len(o) > 0 && o[0] == k[0] {
			rivals = append(rivals, o)
		}
	}
	if len(rivals) == 0 {
		return string(k[0])
	}
	for at := 1; at < len(k); at++ {
		alone := unicode.IsLetter(k[at])
		for _, o := range rivals {
			alone = alone && (at >= len(o) || o[at] != k[at])
		}
		if alone {
			return string(k[0]) + string(unicode.ToLower(k[at]))
		}
	}
	return string(k)
}
