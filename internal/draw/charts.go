package draw

import (
	"fmt"
	"strconv"
	"strings"
)

// Charts are rows of charts above one key, which says what the lines of all of them mean.
type Charts struct {
	Title, Note   string
	Columns       int
	Width, Height int     // of each chart
	Charts        []Chart // at least one; all have the same lines
}

// The layout of charts.
const (
	border       = 16
	headHeight   = 56 // title and note
	titleHeight  = 20 // above a chart
	keyRow       = 18
	keyLetter    = 7 // maximum width of a letter in the key
	narrowest    = 640
	aroundMarker = 40 // length of the piece of a line in the key
)

// SVG draws the charts on white paper, without an external style sheet.
func (p Charts) SVG() string {
	key := p.Charts[0].Lines
	rows := (len(p.Charts) + p.Columns - 1) / p.Columns
	high := p.Height + titleHeight
	width := max(2*border+p.Columns*p.Width, narrowest)
	keyColumn := 1
	for _, l := range key {
		keyColumn = max(keyColumn, aroundMarker+keyLetter*len(l.Name)+border)
	}
	columns := max(1, (width-2*border)/keyColumn)
	keyTop := headHeight + rows*high + border
	height := keyTop + (len(key)+columns-1)/columns*keyRow + border

	c := &Canvas{}
	c.Begin(strconv.Itoa(width), strconv.Itoa(height), "role", "img", "aria-label", p.Title)
	c.Style(chartStyle())
	c.Background()
	c.Text(strconv.Itoa(border), "26", p.Title, "class", "title")
	c.Text(strconv.Itoa(border), "44", p.Note, "class", "note")
	for i := range p.Charts {
		c.Open("g", "transform", fmt.Sprintf("translate(%d %d)", border+i%p.Columns*p.Width, headHeight+i/p.Columns*high))
		c.Text(strconv.Itoa(marginLeft), "12", p.Charts[i].Title, "class", "note")
		c.Open("g", "transform", fmt.Sprintf("translate(0 %d)", titleHeight))
		p.Charts[i].draw(c, p.Width, p.Height)
		c.Close("g")
		c.Close("g")
	}
	for i, l := range key {
		x, y := float64(border+marginLeft/2+i%columns*keyColumn), float64(keyTop+i/columns*keyRow)
		c.Open("g", "class", l.class())
		c.Leaf("polyline", "", "points", px(x)+","+px(y)+" "+px(x+32)+","+px(y), "stroke-dasharray", l.dash)
		l.marker(c, x+16, y, "")
		c.Text(px(x+aroundMarker), px(y+4), l.Name)
		c.Close("g")
	}
	c.Close("svg")
	return c.String()
}

// chartStyle is the style sheet of charts. It has no variables, because not all programs
// that draw SVG support them.
func chartStyle() string {
	var b strings.Builder
	b.WriteString(`text{fill:` + Ink + `}.title{font-size:17px;font-weight:600}.note{fill:` + Grey + `}` +
		`.tick{font-size:10px;fill:` + Grey + `}.grid{stroke:#dfe3e8;stroke-width:1}` +
		`.line polyline{fill:none;stroke-width:1.7;stroke-linejoin:round}.mark{stroke-width:.9;stroke-linejoin:round}`)
	for i, colour := range palette {
		fmt.Fprintf(&b, ".c%d polyline,.c%d .mark{stroke:%s}.c%d .mark{fill:%s}", i, i, colour, i, colour)
	}
	b.WriteString(".mark.hollow{fill:" + Paper + "}")
	return b.String()
}
