package page

import (
	_ "embed"
	"html/template"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/world/compare"
)

// Methods shows a comparison of methods against deadlock.
type Methods struct{ *compare.DeadlockMap }

//go:embed deadlock.html
var deadlockHTML string

// HTML returns the comparison as a self-contained page: no script, nothing from the
// network.
func (m Methods) HTML() ([]byte, error) {
	_, css, _ := strings.Cut(reportHTML, "<style>")
	css, _, _ = strings.Cut(css, "{{")
	page := deadlockPage{Methods: m, CSS: template.CSS(css), N: commas(m.Processes)}
	for i := range m.Rows {
		page.Key = append(page.Key, class(i))
	}
	for _, by := range compare.DeadlockMeasures() {
		page.Panels = append(page.Panels, panel{by.Title, template.HTML(m.chart(by))})
	}
	for _, r := range m.Rows {
		for n, x := range r.Results {
			row := deadlockLine{Name: r.Name, Processes: m.Processes[n], Stuck: "-"}
			if x != nil {
				row.Stuck = strconv.Itoa(x.Stuck)
			}
			for _, by := range compare.DeadlockMeasures() {
				row.Cells = append(row.Cells, short(by.Value(x)))
			}
			page.Lines = append(page.Lines, row)
		}
		if last := r.Results[len(r.Results)-1]; last != nil && last.Stuck > 0 && page.Ring == "" {
			page.Ring = template.HTML(last.Graph.SVG(deadlock.Picture{Title: r.Name, Note: "who waits for whom, for ever", Victim: -1}))
		}
	}
	return fill(deadlockHTML, page)
}

type (
	deadlockPage struct {
		Methods
		CSS    template.CSS
		N      string
		Key    []string
		Panels []panel
		Lines  []deadlockLine
		Ring   template.HTML
	}
	deadlockLine struct {
		Name      string
		Processes int
		Stuck     string
		Cells     []string
	}
)

// chart draws one measure over the number of processes.
func (m Methods) chart(by compare.DeadlockMeasure) string {
	c := chart{width: 560, height: 300, unit: by.Unit, xs: m.Processes, names: true, label: by.Title + " over the number of processes"}
	c.lines = m.lines(by)
	return c.svg()
}

// lines returns the line of each method.
func (m Methods) lines(by compare.DeadlockMeasure) []line {
	var all []line
	for i, r := range m.Rows {
		var ys []float64
		for _, x := range r.Results {
			ys = append(ys, by.Value(x))
		}
		all = append(all, line{lookOfMethod(r.Method.Name, r.Mode), r.Name, class(i), ys})
	}
	return all
}
