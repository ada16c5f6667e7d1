package trace

import "strings"

// A style is how messages of one kind are drawn.
type style struct {
	slot   int // its number, which names its arrowhead
	colour string
	dash   string
}

// palette is based on the colours of Okabe and Ito, darkened for thin lines.
// Each differs from the others in its dashes too.
func palette() []style {
	return []style{
		{0, "#0072b2", ""},
		{1, amber, "5 3"},
		{2, "#3f7f93", "1.5 3"},
		{3, "#d1495b", "9 3"},
		{4, "#5b5f97", "7 3 1.5 3"},
		{5, "#6b6b00", "3 3"},
		{6, "#9a6b4f", "12 4"},
		{7, "#4d4d4d", "2 2"},
		{8, "#117733", "6 2 2 2"},
		{10, "#882255", "4 2"},
		{11, "#004488", "10 3 2 3"},
	}
}

// tokenStyle is kept for tokens.
func tokenStyle() style { return style{9, purple, ""} }

// assignStyles gives each kind a style: a token its own, the others theirs in
// order. Styles come again if there are too many kinds.
func assignStyles(kinds []string) []style {
	styles := make([]style, len(kinds))
	all := palette()
	next := 0
	for i, k := range kinds {
		if isToken(k) {
			styles[i] = tokenStyle()
			continue
		}
		styles[i] = all[next%len(all)]
		next++
	}
	return styles
}

func isToken(kind string) bool {
	k := strings.ToUpper(kind)
	return strings.Contains(k, "TOKEN") || strings.Contains(k, "PRIVILEGE")
}

// A relation is how an event stands to the one in focus.
type relation uint8

const (
	unfocused relation = iota // there is no focus
	concurrent
	future
	past
	focused
)

// relation returns how event i stands to the focus.
func (p *picture) relation(i int) relation {
	switch {
	case p.focus < 0:
		return unfocused
	case i == p.focus:
		return focused
	case p.order.HappenedBefore(i, p.focus):
		return past
	case p.order.HappenedBefore(p.focus, i):
		return future
	}
	return concurrent
}

// A weight is how heavily a message is drawn.
type weight struct {
	relation relation
	name     string // of its arrowheads
	stroke   string // width of the line
	head     int    // length of the arrowhead
	opacity  string
}

// weights are in the order of drawing, the most important last.
func weights() []weight {
	return []weight{
		{concurrent, "c", "1.4", 9, "0.25"},
		{future, "f", "1.2", 9, ""},
		{unfocused, "u", "1.6", 10, ""},
		{past, "p", "2.2", 12, ""},
	}
}
