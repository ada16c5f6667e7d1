package draw

import "strconv"

// A Look distinguishes a line of a chart from others: its colour, the shape of its
// markers and its dash. Lines of one colour differ in both of the others, and neighbours
// differ in colour and shape, so that no reader needs to see colours.
type Look struct {
	colour int // index into palette
	shape  int // index into shapes
	hollow bool
	dash   string
}

// LookAt returns look number i. Looks repeat after 7 x 8 x 2.
func LookAt(i int) Look {
	n := i / len(palette) % (2 * len(shapes))
	colour := i % len(palette)
	return Look{colour: colour, shape: (colour + n) % len(shapes), hollow: n >= len(shapes), dash: dashes[n%len(shapes)]}
}

// palette has the colours: the hues of Okabe and Ito, made darker until they stand out
// from the paper and from each other, also for people with impaired colour vision. A test
// measures that.
var palette = [...]string{
	"#1b1f24", // ink
	"#1b4488", // blue
	"#9c4100", // vermillion
	"#12806f", // bluish green
	"#e0409f", // reddish purple
	"#b28d0a", // orange, towards yellow
	"#2e95f0", // sky blue
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

// class returns the class of a line, for the style sheet.
func (l Look) class() string { return "line c" + strconv.Itoa(l.colour) }

// marker draws a marker at its position, with a tooltip.
func (l Look) marker(c *Canvas, x, y float64, tip string) {
	class := "mark"
	if l.hollow {
		class += " hollow"
	}
	c.Leaf("path", tip, "class", class, "transform", "translate("+px(x)+" "+px(y)+")", "d", shapes[l.shape])
}
