package page

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// fixtures are all pages on which controls are tried: together they have every control
// of the lab.
func fixtures(t testing.TB) []fixture {
	return []fixture{
		{name: "time", text: example(t, "raymond-a"), controls: timeControls()},
		{name: "wide", text: example(t, "maekawa-grid-3-23"), controls: wideControls()},
		{name: "broken", text: broken, controls: brokenControls()},
		{name: "processes", text: byHand, controls: processDeeds()},
		{name: "messages", text: byHand, controls: messageDeeds()},
		{name: "order", text: overtaking, controls: orderDeeds()},
		{name: "struck", text: struck, controls: struckDeeds()},
		{name: "sections", text: example(t, "ricart-agrawala-two-sections"), controls: sectionDeeds()},
		{name: "sites", text: sites, controls: siteDeeds()},
		{name: "timed sites", text: timedSites, controls: timedSiteDeeds()},
		{name: "waits", text: waits, controls: waitDeeds()},
		{name: "graph", text: resources, controls: graphDeeds()},
		{name: "elections", text: election, controls: electionDeeds()},
		{name: "editor", text: scenarioText, controls: editorControls()},
		{name: "faulty", text: faulty, controls: faultyControls()},
		{name: "dialogs", text: scenarioText, scripted: true, controls: dialogControls()},
		{name: "fresh", text: scenarioText, controls: freshControls()},
		{name: "lists", text: scenarioText, controls: freshLists()},
		{name: "export", text: scenarioText, controls: exportControls()},
		{name: "gallery", text: scenarioText, controls: galleryControls()},
	}
}

// everyday are the fixtures that every run visits, to try every second control. Nightly
// runs, with STILE_NIGHTLY=1, visit all fixtures and try all controls.
const everyday = "time processes messages sites editor dialogs"

// nightly reports whether a test has all the time it wants.
func nightly() bool { return os.Getenv("STILE_NIGHTLY") != "" }

// some returns one in n of a list, or all of it in nightly runs.
func some[T any](n int, all []T) []T {
	if nightly() {
		return all
	}
	var few []T
	for i := 0; i < len(all); i += n {
		few = append(few, all[i])
	}
	return few
}

// TestEveryControl tries the controls of the page by mouse and by keyboard, and fails
// if there is one that it does not know, or that it knows and that is nowhere.
func TestEveryControl(t *testing.T) {
	t.Parallel()
	all := fixtures(t)
	c := newCensus(t, all)
	t.Run("at", func(t *testing.T) {
		for _, s := range all {
			if !nightly() && !slices.Contains(strings.Fields(everyday), s.name) {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				s.controls = some(2, s.controls)
				s.try(t, c)
			})
		}
	})
	total := 0
	for _, s := range all {
		total += len(s.controls)
	}
	if c.tried < total {
		return // some failed, or only some were asked for
	}
	row := 0
	for _, s := range all {
		for _, control := range s.controls {
			if !c.seen[row] {
				t.Errorf("%s, %s: there is no such control on any page", s.name, control.name)
			}
			row++
		}
	}
}

// typed is to press keys, wherever the focus is.
func typed(keys string, with ...kb.Modifier) way {
	return func(v *visit) { v.keys(keys, with...) }
}

// tabbed is to go to a control by Tab, and to press keys there.
func tabbed(is, called, keys string) way {
	return func(v *visit) {
		v.tabTo(is, called)
		v.key(keys)
	}
}

// at is where the cursor is.
func at(cursor string) string {
	return `document.querySelector(".count").innerText == ` + quote(cursor)
}

// there is what a selector finds something for.
func there(selector string) string {
	return `document.querySelector(` + quote(selector) + `)`
}

// shows is what says something.
func shows(selector, words string) string {
	return `document.querySelector(` + quote(selector) + `)?.innerText.includes(` + quote(words) + `)`
}

// inText is what is in the text of the scenario.
func inText(words string) string {
	return `document.querySelector("textarea").value.includes(` + quote(words) + `)`
}

// and is what is true of all.
func and(all ...string) string {
	joined := ""
	for i, one := range all {
		if i > 0 {
			joined += " && "
		}
		joined += "(" + one + ")"
	}
	return joined
}

// not is what is not true.
func not(one string) string { return "!(" + one + ")" }

// clicks is to click one control after the other: selectors.
func clicks(selectors ...string) func(*visit) {
	return func(v *visit) {
		for _, s := range selectors {
			v.clickOn(s, "")
		}
	}
}

const right, left, up, down = kb.ArrowRight, kb.ArrowLeft, kb.ArrowUp, kb.ArrowDown

// left is where an element begins.
func (v *visit) left(selector string) float64 {
	v.t.Helper()
	return eval[float64](v.page, there(selector)+".getBoundingClientRect().left")
}

// wheel turns the wheel of the mouse over an element.
func (v *visit) wheel(selector string, dx, dy float64) {
	v.t.Helper()
	x, y := v.where(selector, "")
	// A turn by 0 would be left out.
	v.do(chromedp.MouseEvent(chromedp.MouseWheel, x, y, func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = dx+0.01, dy+0.01 }))
}
