package draw

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The colours that all pictures share. Each has one meaning, and nothing is conveyed by
// colour alone.
const (
	Paper = "#ffffff"
	Ink   = "#1a1a1a"
	Grey  = "#6b7280" // notes, and what matters less
	Blue  = "#0072b2"
)

// Fonts is the list of fonts of all pictures.
const Fonts = "system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"

// A Canvas writes a picture as SVG, one element per line. Attributes are pairs of name
// and value; one with an empty value is left out. The zero Canvas is empty.
type Canvas struct{ b strings.Builder }

// Begin opens a picture of this size, with further attributes. Close("svg") ends it.
func (c *Canvas) Begin(width, height string, attrs ...string) {
	attrs = append([]string{"xmlns", "http://www.w3.org/2000/svg"}, attrs...)
	c.Open("svg", append(attrs, "width", width, "height", height, "viewBox", "0 0 "+width+" "+height, "font-family", Fonts, "font-size", "12")...)
}

// Background covers the picture with paper.
func (c *Canvas) Background() {
	c.Leaf("rect", "", "width", "100%", "height", "100%", "fill", Paper)
}

// Style writes a style sheet.
func (c *Canvas) Style(css string) { c.b.WriteString("<style>" + css + "</style>\n") }

// Open writes the start of an element.
func (c *Canvas) Open(name string, attrs ...string) {
	c.tag(name, attrs)
	c.b.WriteString(">\n")
}

// Close writes the end of an element.
func (c *Canvas) Close(name string) { c.b.WriteString("</" + name + ">\n") }

// Tip gives the open element a title, which browsers show as a tooltip, if it has one.
func (c *Canvas) Tip(tip string) {
	if tip != "" {
		c.b.WriteString("<title>" + escapeLines(tip) + "</title>\n")
	}
}

// Leaf writes an element that holds only a title, which browsers show as a tooltip.
func (c *Canvas) Leaf(name, tip string, attrs ...string) {
	c.tag(name, attrs)
	if tip == "" {
		c.b.WriteString("/>\n")
		return
	}
	c.b.WriteString("><title>" + escapeLines(tip) + "</title></" + name + ">\n")
}

// Text writes words at a place.
func (c *Canvas) Text(x, y, words string, attrs ...string) {
	c.tag("text", append([]string{"x", x, "y", y}, attrs...))
	c.b.WriteString(">" + Escape(words) + "</text>\n")
}

// String returns what has been written.
func (c *Canvas) String() string { return c.b.String() }

func (c *Canvas) tag(name string, attrs []string) {
	c.b.WriteString("<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		if attrs[i+1] != "" {
			c.b.WriteString(" " + attrs[i] + `="` + Escape(attrs[i+1]) + `"`)
		}
	}
}

// px formats a coordinate.
func px(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// Escape makes a line of text safe inside XML.
func Escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(Clean(s))
}

// escapeLines makes text of several lines safe.
func escapeLines(s string) string {
	all := strings.Split(s, "\n")
	for i := range all {
		all[i] = Escape(all[i])
	}
	return strings.Join(all, "\n")
}

// Clean makes text safe to show on one line: it may come from a file, and XML cannot
// represent every character.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF:
			return '?'
		case unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf):
			return ' '
		}
		return r
	}, s)
}
