package page

import (
	"fmt"
	"html"
	"strings"

	"github.com/stile-lock/stile/internal/world/compare"
)

// A picture is a row of charts above one key that stands alone: on white paper, with
// colours that need no external style sheet.
type picture struct {
	title, note string
	charts      []chart // all of one size; label is the title above each
	columns     int
	key         []line
}

// SVG draws messages per entry over the number of processes, for each load: the
// chart that most comparisons are about.
func (m Locks) SVG() string {
	by := compare.Measures()[0]
	p := picture{
		title: "Messages per entry over the number of processes N",
		note:  fmt.Sprintf("runs of %d entries, seed %d; times in T, the latency of a message", m.Entries, m.Seed),
		key:   m.lines(by, 0, 0), columns: min(len(m.Think), 3),
	}
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			c := chart{width: 400, height: 300, unit: by.Unit, xs: m.Nodes, lines: m.lines(by, t, h)}
			c.label = thinkName(think) + ", hold " + hold.String()
			p.charts = append(p.charts, c)
		}
	}
	return p.svg(m.Stopped())
}

// SVG draws throughput and messages over the number of processes.
func (m Methods) SVG() string {
	p := picture{
		title: "Methods against deadlock over the number of processes N",
		note: fmt.Sprintf("%d transactions over %d locks at %d sites, seed %d; a run that got stuck has throughput 0 and no messages",
			m.Transactions, m.Locks, m.Sites, m.Seed),
		columns: 2,
	}
	for _, by := range compare.DeadlockMeasures()[:2] {
		p.key = m.lines(by)
		p.charts = append(p.charts, chart{width: 500, height: 320, label: by.Title + ", " + by.Unit, unit: by.Unit, xs: m.Processes, lines: p.key})
	}
	return p.svg(m.Stopped())
}

// The layout of a picture.
const (
	pictureEdge  = 16
	pictureHead  = 56 // title and note
	chartTitle   = 20 // above a chart
	keyRow       = 18
	keyLetter    = 7 // maximum width of a letter in the key
	narrowest    = 640
	aroundMarker = 40 // length of the piece of a line in the key
)

// svg draws the picture; stopped says how far the comparison had come when it was
// interrupted, if it was.
func (p picture) svg(stopped string) string {
	note := p.note
	if stopped != "" {
		note = "INTERRUPTED after " + stopped + "; " + note
	}
	rows := (len(p.charts) + p.columns - 1) / p.columns
	wide, high := p.charts[0].width, p.charts[0].height+chartTitle
	width := max(2*pictureEdge+p.columns*wide, narrowest)
	keyColumn := 0
	for _, l := range p.key {
		keyColumn = max(keyColumn, aroundMarker+keyLetter*len(l.name)+pictureEdge)
	}
	columns := max(1, (width-2*pictureEdge)/keyColumn)
	keyTop := pictureHead + rows*high + pictureEdge
	height := keyTop + (len(p.key)+columns-1)/columns*keyRow + pictureEdge

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`,
		width, height, width, height, html.EscapeString(p.title))
	b.WriteString("\n<style>" + paperStyle() + "</style>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`, width, height)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="26">%s</text>`, pictureEdge, html.EscapeString(p.title))
	fmt.Fprintf(&b, `<text class="note" x="%d" y="44">%s</text>`, pictureEdge, html.EscapeString(note))
	for i := range p.charts {
		c := &p.charts[i]
		x, y := pictureEdge+i%p.columns*wide, pictureHead+i/p.columns*high
		fmt.Fprintf(&b, "\n"+`<g transform="translate(%d %d)"><text class="note" x="%d" y="12">%s</text>`, x, y, marginLeft, html.EscapeString(c.label))
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">%s</g></g>`, chartTitle, c.body())
	}
	for i, l := range p.key {
		x, y := float64(pictureEdge+marginLeft/2+i%columns*keyColumn), float64(keyTop+i/columns*keyRow)
		fmt.Fprintf(&b, "\n"+`<g class="line %s">%s<text class="key" x="%.1f" y="%.1f">%s</text></g>`,
			l.Class(), l.sample(x, y), x+aroundMarker, y+4, html.EscapeString(l.name))
	}
	b.WriteString("\n</svg>\n")
	return b.String()
}

// paperStyle is the style sheet inside a picture. It has no variables, because not all
// programs that draw SVG support them.
func paperStyle() string {
	var b strings.Builder
	b.WriteString(`text{font-family:system-ui,"DejaVu Sans",sans-serif;fill:#1b1f24}` +
		`.title{font-size:17px;font-weight:600}.note{font-size:12px;fill:#5b6470}.key{font-size:12px}` +
		`.tick{font-size:10px;fill:#5b6470}.grid{stroke:#dfe3e8;stroke-width:1}` +
		`.line polyline{fill:none;stroke-width:1.7;stroke-linejoin:round}.mark{stroke-width:.9;stroke-linejoin:round}`)
	for i, t := range palette() {
		fmt.Fprintf(&b, ".c%d polyline,.c%d .mark{stroke:%s}.c%d .mark{fill:%s}", i, i, t.light, i, t.light)
	}
	b.WriteString(".mark.hollow{fill:#fff}")
	return b.String()
}
