package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A look distinguishes a line from others: its colour, the shape of its markers and its
// dash. Lines of one colour differ in both of the others, and neighbours differ in colour
// and shape, so that no reader needs to see colours.
type look struct {
	colour int // index into palette
	shape  int // index into shapes
	hollow bool
	dash   string // dash of its line, for SVG
}

// A tone is a colour on white paper and on dark paper.
type tone struct{ light, dark string }

// palette returns the colours: the hues of Okabe and Ito, made darker or lighter until
// they stand out from the paper and from each other, also for people with impaired colour
// vision. A test measures that.
func palette() []tone {
	return []tone{
		{"#1b1f24", "#f4f6f8"}, // ink
		{"#1b4488", "#2f6bf5"}, // blue
		{"#9c4100", "#d6402a"}, // vermillion
		{"#12806f", "#6db77a"}, // bluish green
		{"#e0409f", "#bb6fb5"}, // reddish purple
		{"#b28d0a", "#f7cf2b"}, // orange, towards yellow
		{"#2e95f0", "#3fd0f5"}, // sky blue
	}
}

// shapes are the markers, as paths around 0,0 that look equally large.
var shapes = [...]string{
	"M-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0z", // circle
	"M-2.4 -2.4H2.4V2.4H-2.4z",                          // square
	"M0 -3.3L3.1 2.3H-3.1z",                             // triangle
	"M0 -3.4L3.4 0L0 3.4L-3.4 0z",                       // diamond
	"M0 3.3L3.1 -2.3H-3.1z",                             // inverted triangle
	"M-1 -3.2H1V-1H3.2V1H1V3.2H-1V1H-3.2V-1H-1z",        // plus
	"M0 -3.8L1.1 -1.2L3.6 -1.2L1.6 .5L2.3 3.1L0 1.5L-2.3 3.1L-1.6 .5L-3.6 -1.2L-1.1 -1.2z", // star
	"M-3 -3.1H3L-3 3.1H3z", // hourglass
}

// dashes has one pattern for each shape.
var dashes = [len(shapes)]string{"", "6 3", "2 2.5", "8 3 2 3", "11 4", "4 2 1 2 1 2", "1 4", "14 3 4 3"}

// lookAt returns look number i. Looks repeat after 7 x 8 x 2.
func lookAt(i int) look {
	colours := len(palette())
	n := i / colours % (2 * len(shapes))
	return look{colour: i % colours, shape: (i%colours + n) % len(shapes), hollow: n >= len(shapes), dash: dashes[n%len(shapes)]}
}

// lookOf returns the look of an algorithm, which is the same whatever it is compared
// with: its place in the catalog decides, and that of the election after a plus.
func lookOf(name string) look {
	all, at := catalog.All(), func(list []algorithm.Spec, name string) int {
		return slices.IndexFunc(list, func(s algorithm.Spec) bool { return s.Name == name })
	}
	lock, elect, _ := strings.Cut(name, "+")
	return lookAt(len(all)*(1+at(catalog.Elections(), elect)) + max(0, at(all, lock)))
}

// lookOfMethod returns the look of a method against deadlock in one of its modes, by its
// place among all of them.
func lookOfMethod(name, mode string) look {
	i := 0
	for _, m := range deadlock.Methods() {
		for k, its := range append([]string{""}, m.Modes...)[min(1, len(m.Modes)):] {
			if m.Name == name && its == mode {
				return lookAt(i + k)
			}
		}
		i += max(1, len(m.Modes))
	}
	return lookAt(i)
}

// Class returns the class of the colour, for the style sheet.
func (l look) Class() string { return fmt.Sprintf("c%d", l.colour) }

// marker draws the marker at its position, with a title that appears on hover.
func (l look) marker(x, y float64, title string) string {
	class := "mark"
	if l.hollow {
		class += " hollow"
	}
	if title != "" {
		title = "<title>" + title + "</title>"
	}
	return fmt.Sprintf(`<path class="%s" transform="translate(%.1f %.1f)" d="%s">%s</path>`, class, x, y, shapes[l.shape], title)
}

// Marker returns the marker as a picture to put before a name.
func (l look) Marker() template.HTML {
	return template.HTML(`<svg class="of" viewBox="-5 -5 10 10" aria-hidden="true">` + l.marker(0, 0, "") + `</svg>`)
}

// Sample returns a piece of the line with its marker, for a key.
func (l look) Sample() template.HTML {
	return template.HTML(`<svg class="sample" viewBox="0 0 32 10" aria-hidden="true">` + l.sample(0, 5) + `</svg>`)
}

// sample draws a piece of the line with its marker from x on.
func (l look) sample(x, y float64) string {
	return fmt.Sprintf(`<polyline points="%.1f,%.1f %.1f,%.1f" stroke-dasharray="%s"/>`, x, y, x+32, y, l.dash) + l.marker(x+16, y, "")
}

// colours returns the style sheet for the classes, on either paper.
func colours() template.CSS {
	var light, dark strings.Builder
	for i, t := range palette() {
		fmt.Fprintf(&light, ".c%d { --c: %s; }\n", i, t.light)
		fmt.Fprintf(&dark, "  .c%d { --c: %s; }\n", i, t.dark)
	}
	return template.CSS(light.String() + "@media (prefers-color-scheme: dark) {\n" + dark.String() + "}\n")
}
