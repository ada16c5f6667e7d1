package compare

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

//go:embed report.html
var reportHTML string

// HTML returns the map as a page of its own: no script, nothing from the
// network.
func (m *Map) HTML() ([]byte, error) { return fill(reportHTML, m.report()) }

// fill fills in a page.
func fill(page string, data any) ([]byte, error) {
	t, err := template.New("page").Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

// commas writes numbers of processes.
func commas(n []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ", "), "[]") }

// What the page shows.
type (
	report struct {
		Algorithms, Runs, Entries int
		Seed                      uint64
		Nodes                     string
		Key                       []string  // the classes of the algorithms
		Loads                     []load    // the lines of the cards
		Maps                      []bestMap // who is best where
		Sides                     []side    // all algorithms in one picture
		Cards                     []card    // each algorithm beside theory
		Broken                    []string  // who broke a property
		Table                     []row     // all numbers
	}
	load    struct{ Name, Colour, Dash string }
	bestMap struct {
		Title, Unit string
		More        bool
		Nodes       []int
		Rows        []bestRow
	}
	bestRow struct {
		Think, Hold string
		Cells       []bestCell
	}
	bestCell struct {
		Name, Others, Colour, Value string
		More                        int // how many share the place
	}
	side struct {
		Title, Hold string
		Panels      []panel
	}
	panel struct {
		Title string
		Chart template.HTML
	}
	card struct {
		Name, By, Order string
		Panels          []panel
	}
	row struct {
		Name, Think, Hold string
		Nodes             int
		Skipped           string
		Cells             []rowCell
	}
	rowCell struct {
		Measured, Theory string
		Outside          bool
	}
)

func (m *Map) report() report {
	r := report{
		Algorithms: len(m.Specs), Entries: m.Entries, Seed: m.Seed, Nodes: commas(m.Nodes),
		Loads: m.loads(), Maps: m.maps(), Sides: m.sides(), Cards: m.cards(), Table: m.table(),
	}
	for i := range m.Specs {
		r.Key = append(r.Key, class(i))
	}
	for _, c := range m.Cells {
		if c.Result != nil {
			r.Runs++
		}
		if c.Result != nil && c.Result.Violations > 0 {
			r.Broken = append(r.Broken, fmt.Sprintf("%s, N=%d, think %v, hold %v: %v", c.Spec.Name, c.Nodes, c.Think, c.Hold, c.Result.Found[0]))
		}
	}
	return r
}

// colour and dash tell the lines of algorithms apart: eight colours, and then
// the same ones dashed. They are readable on white and on black, and to people
// who do not see all colours.
func colour(i int) string {
	colours := []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7b61ff", "#8c564b"}
	return colours[i%len(colours)]
}

func dash(i int) string { return []string{"", "6 3", "2 2.5"}[i/8%3] }

func class(i int) string { return fmt.Sprintf("a%d", i) }

// thinkName says how busy a group with this rest time is.
func thinkName(d scenario.Dist) string {
	if d.Max() == 0 {
		return "think 0 (saturated)"
	}
	return "think " + d.String()
}

// thinkColour is the colour of a rest time on the cards.
func thinkColour(i int) string {
	return []string{"#0072b2", "#b58900", "#d55e00", "#009e73", "#7b61ff", "#cc79a7"}[i%6]
}

func holdDash(i int) string { return []string{"", "4 3", "1.5 2.5", "8 3 2 3"}[i%4] }

func (m *Map) loads() []load {
	var all []load
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			all = append(all, load{thinkName(think) + ", hold " + hold.String(), thinkColour(t), holdDash(h)})
		}
	}
	return all
}

// maps shows who is best where, measure by measure.
func (m *Map) maps() []bestMap {
	var all []bestMap
	for _, by := range Measures() {
		b := bestMap{Title: by.Title, Unit: by.Unit, More: by.More, Nodes: m.Nodes}
		for i, p := range m.Places() {
			if i%len(m.Nodes) == 0 {
				b.Rows = append(b.Rows, bestRow{Think: p.Think.String(), Hold: p.Hold.String()})
			}
			row := &b.Rows[len(b.Rows)-1]
			row.Cells = append(row.Cells, m.bestCell(by, i))
		}
		all = append(all, b)
	}
	return all
}

func (m *Map) bestCell(by Measure, place int) bestCell {
	best := m.Best(by, place)
	if len(best.Specs) == 0 {
		return bestCell{Name: "-", Colour: "transparent"}
	}
	if best.All {
		return bestCell{Name: "all alike", Colour: "#88919c", Value: short(best.Value)}
	}
	first := best.Specs[0]
	var others []string
	for _, s := range best.Specs[1:] {
		others = append(others, m.Specs[s].Name)
	}
	return bestCell{m.Specs[first].Name, strings.Join(others, ", "), colour(first), short(best.Value), len(others)}
}

// series returns what an algorithm measured over all numbers of processes, and
// what theory says.
func (m *Map) series(by Measure, spec, think, hold int) ([]float64, band) {
	var ys []float64
	var b band
	for n := range m.Nodes {
		c := m.Find(spec, n, think, hold)
		lo, hi := math.NaN(), math.NaN()
		if r, ok := by.Range(c); ok {
			lo, hi = r.Lo, r.Hi
		}
		ys = append(ys, by.Value(c))
		b.lo, b.hi = append(b.lo, lo), append(b.hi, hi)
	}
	return ys, b
}

// sides draws all algorithms in one picture: a row for each measure and hold
// time, in it a panel for each rest time.
func (m *Map) sides() []side {
	var all []side
	for h, hold := range m.Hold {
		for _, by := range Measures() {
			s := side{Title: by.Title, Hold: hold.String()}
			for t, think := range m.Think {
				c := chart{width: 400, height: 300, unit: by.Unit, xs: m.Nodes, names: true}
				c.label = fmt.Sprintf("%s over the number of processes, %s, hold %v", by.Title, thinkName(think), hold)
				for i, spec := range m.Specs {
					ys, _ := m.series(by, i, t, h)
					c.lines = append(c.lines, line{spec.Name, class(i), colour(i), dash(i), ys})
				}
				s.Panels = append(s.Panels, panel{thinkName(think), template.HTML(c.svg())})
			}
			all = append(all, s)
		}
	}
	return all
}

// cards draws each algorithm on its own, beside theory.
func (m *Map) cards() []card {
	var all []card
	for i, s := range m.Specs {
		c := card{Name: s.Name, By: s.Authors, Order: s.Theory.Order}
		if s.Year != 0 {
			c.By = strings.TrimSpace(fmt.Sprintf("%s %d", s.Authors, s.Year))
		}
		for _, by := range Measures()[:3] {
			c.Panels = append(c.Panels, panel{by.Title + formula(by, s), template.HTML(m.cardChart(by, i))})
		}
		all = append(all, c)
	}
	return all
}

func formula(by Measure, s core.Spec) string {
	if text := by.Theory(s.Theory).Text; text != "" {
		return ": " + text
	}
	return ""
}

func (m *Map) cardChart(by Measure, spec int) string {
	c := chart{width: 300, height: 150, unit: by.Unit, xs: m.Nodes, label: m.Specs[spec].Name + ": " + by.Title}
	for i, l := range m.loads() {
		ys, b := m.series(by, spec, i%len(m.Think), i/len(m.Think))
		c.lines = append(c.lines, line{l.Name, "", l.Colour, l.Dash, ys})
		c.bands = append(c.bands, b)
	}
	return c.svg()
}

// table lists all numbers.
func (m *Map) table() []row {
	var all []row
	for i := range m.Cells {
		c := &m.Cells[i]
		r := row{Name: c.Spec.Name, Nodes: c.Nodes, Think: c.Think.String(), Hold: c.Hold.String(), Skipped: c.Skipped}
		for _, by := range Measures() {
			x := by.Value(c)
			cell := rowCell{Measured: short(x)}
			if t, says := by.Range(c); says {
				cell.Theory = rangeText(t)
				cell.Outside = !math.IsNaN(x) && !inside(x, t)
			}
			r.Cells = append(r.Cells, cell)
		}
		all = append(all, r)
	}
	return all
}

func rangeText(r core.Range) string {
	if r.Lo == r.Hi {
		return short(r.Lo)
	}
	return short(r.Lo) + " .. " + short(r.Hi)
}

// inside reports whether x keeps to theory, but for rounding and for the first
// and last entries of a run, which are not like the rest.
func inside(x float64, r core.Range) bool {
	slack := 0.02*math.Abs(x) + 1e-9
	return x >= r.Lo-slack && x <= r.Hi+slack
}
