// Package page shows comparisons: as a self-contained page, and as pictures.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/world/compare"
	"github.com/stile-lock/stile/scenario"
)

// Locks shows a comparison of locks.
type Locks struct{ *compare.Map }

//go:embed report.html
var reportHTML string

// HTML returns the map as a self-contained page: no script, nothing from the network.
func (m Locks) HTML() ([]byte, error) { return fill(reportHTML, m.report()) }

// fill fills in a page.
func fill(page string, data any) ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"colours": colours}).Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

// commas formats numbers of processes.
func commas(n []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ", "), "[]") }

// What the page shows.
type (
	report struct {
		Algorithms, Runs, Entries int
		Stopped                   string // how far it had come when it was interrupted, if it was
		Seed                      uint64
		Nodes, Topology           string
		Key                       []string  // classes of the algorithms
		Loads                     []load    // lines of the cards
		Maps                      []bestMap // which algorithms are best where
		Sides                     []side    // all algorithms in one picture
		Cards                     []card    // each algorithm next to theory
		Broken                    []string  // algorithms that violated a property
		Table                     []row     // all numbers
	}
	load struct {
		look
		Name string
	}
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
		Name, Others, Value string
		Class               string        // class of its colour
		Marker              template.HTML // marker of the algorithm
		More                int           // number of algorithms that share the place
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
		look
		Name, By, Order string
		Panels          []panel
	}
	row struct {
		Name, Think, Hold string
		Nodes             int
		Skipped           string
		Cells             []rowCell
		Constant          string // only for algorithms that ask quorums
	}
	rowCell struct {
		Measured, Theory string
		Outside          bool
	}
)

func (m Locks) report() report {
	r := report{
		Algorithms: len(m.Specs), Entries: m.Entries, Seed: m.Seed, Nodes: commas(m.Nodes), Topology: m.Topology, Stopped: m.Stopped(),
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

func class(i int) string { return fmt.Sprintf("a%d", i) }

// thinkName says how busy a group with this rest time is.
func thinkName(d scenario.Dist) string {
	if d.Max() == 0 {
		return "think 0 (saturated)"
	}
	return "think " + d.String()
}

// loads gives each load a look: a colour for each rest time, and a marker and a dash for
// each hold time.
func (m Locks) loads() []load {
	var all []load
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			number := t%len(palette()) + len(palette())*(h+len(m.Hold)*(t/len(palette())))
			all = append(all, load{lookAt(number), thinkName(think) + ", hold " + hold.String()})
		}
	}
	return all
}

// maps shows which algorithms are best where, measure by measure.
func (m Locks) maps() []bestMap {
	var all []bestMap
	for _, by := range compare.Measures() {
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

func (m Locks) bestCell(by compare.Measure, place int) bestCell {
	best := m.Best(by, place)
	if len(best.Specs) == 0 {
		return bestCell{Name: "-", Class: "nobody"}
	}
	if best.All {
		return bestCell{Name: "all alike", Class: "all", Value: short(best.Value)}
	}
	first := best.Specs[0]
	var others []string
	for _, s := range best.Specs[1:] {
		others = append(others, m.Specs[s].Name)
	}
	name := m.Specs[first].Name
	its := lookOf(name)
	return bestCell{name, strings.Join(others, ", "), short(best.Value), its.Class(), its.Marker(), len(others)}
}

// series returns what an algorithm measured over all numbers of processes, and what
// theory says.
func (m Locks) series(by compare.Measure, spec, think, hold int) ([]float64, band) {
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

// sides draws all algorithms in one picture: a row for each measure and hold time, and in
// it a panel for each rest time.
func (m Locks) sides() []side {
	var all []side
	for h, hold := range m.Hold {
		for _, by := range compare.Measures() {
			s := side{Title: by.Title, Hold: hold.String()}
			for t, think := range m.Think {
				c := chart{width: 400, height: 300, unit: by.Unit, xs: m.Nodes, names: true}
				c.label = fmt.Sprintf("%s over the number of processes, %s, hold %v", by.Title, thinkName(think), hold)
				c.lines = m.lines(by, t, h)
				s.Panels = append(s.Panels, panel{thinkName(think), template.HTML(c.svg())})
			}
			all = append(all, s)
		}
	}
	return all
}

// lines returns the line of each algorithm under one load.
func (m Locks) lines(by compare.Measure, think, hold int) []line {
	var all []line
	for i, spec := range m.Specs {
		ys, _ := m.series(by, i, think, hold)
		all = append(all, line{lookOf(spec.Name), spec.Name, class(i), ys})
	}
	return all
}

// cards draws each algorithm on its own, next to theory.
func (m Locks) cards() []card {
	var all []card
	for i, s := range m.Specs {
		c := card{look: lookOf(s.Name), Name: s.Name, By: s.Authors, Order: s.Theory.Order}
		if s.Year != 0 {
			c.By = strings.TrimSpace(fmt.Sprintf("%s %d", s.Authors, s.Year))
		}
		for _, by := range compare.Measures()[:3] {
			c.Panels = append(c.Panels, panel{by.Title + formula(by, s), template.HTML(m.cardChart(by, i))})
		}
		all = append(all, c)
	}
	return all
}

func formula(by compare.Measure, s algorithm.Spec) string {
	if text := by.Theory(s.Theory).Text; text != "" {
		return ": " + text
	}
	return ""
}

func (m Locks) cardChart(by compare.Measure, spec int) string {
	c := chart{width: 300, height: 150, unit: by.Unit, xs: m.Nodes, label: m.Specs[spec].Name + ": " + by.Title}
	for i, l := range m.loads() {
		ys, b := m.series(by, spec, i%len(m.Think), i/len(m.Think))
		c.lines = append(c.lines, line{l.look, l.Name, "", ys})
		c.bands = append(c.bands, b)
	}
	return c.svg()
}

// table lists all numbers.
func (m Locks) table() []row {
	var all []row
	for i := range m.Cells {
		c := &m.Cells[i]
		r := row{Name: c.Spec.Name, Nodes: c.Nodes, Think: c.Think.String(), Hold: c.Hold.String(), Skipped: c.Skipped, Constant: short(c.Constant())}
		if c.Stopped {
			r.Skipped = "interrupted"
		}
		for _, by := range compare.Measures() {
			x := by.Value(c)
			cell := rowCell{Measured: short(x)}
			if t, says := by.Range(c); says {
				cell.Theory = rangeText(t)
				cell.Outside = !math.IsNaN(x) && !compare.Keeps(x, t)
			}
			r.Cells = append(r.Cells, cell)
		}
		all = append(all, r)
	}
	return all
}

func rangeText(r algorithm.Range) string {
	if r.Lo == r.Hi {
		return short(r.Lo)
	}
	return short(r.Lo) + " .. " + short(r.Hi)
}
