package page

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/world/compare"
	"github.com/stile-lock/stile/scenario"
)

func small(t *testing.T, names ...string) compare.Config {
	t.Helper()
	c := compare.Config{
		Nodes: []int{3, 7}, Entries: 60, Seed: 1,
		Think: []scenario.Dist{{Shape: scenario.Exponential, A: 5000 * scenario.T}, scenario.Always(0)},
		Hold:  []scenario.Dist{scenario.Always(scenario.T), scenario.Always(10 * scenario.T)},
	}
	for _, name := range names {
		spec, err := catalog.Make(name, algorithm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.Specs = append(c.Specs, spec)
	}
	return c
}

func mustRun(t *testing.T, c compare.Config) Locks {
	t.Helper()
	m, err := compare.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	return Locks{m}
}

func catalogNames() []string {
	var names []string
	for _, s := range catalog.Sound() {
		names = append(names, s.Name)
	}
	return names
}

// until returns how to make runs one after the other until so many are done.
func until(t *testing.T, runs int) jobs.Parallel {
	ctx, cancel := context.WithCancel(t.Context())
	return jobs.Parallel{Workers: 1, Context: ctx, Progress: func(done, _ int) {
		if done == runs {
			cancel()
		}
	}}
}

// pages returns a comparison as a page and as a picture, which must be whole.
func pages(t *testing.T, m interface {
	HTML() ([]byte, error)
	SVG() string
}) (page, picture string) {
	t.Helper()
	data, err := m.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "</html>") || strings.Contains(string(data), "NaN") {
		t.Errorf("the page is not whole, or has no numbers")
	}
	d := xml.NewDecoder(strings.NewReader(m.SVG()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture: %v", err)
		}
	}
	return string(data), m.SVG()
}

// A comparison that is interrupted says so on its page and in its picture; one that
// came to its end does not.
func TestStopped(t *testing.T) {
	c := small(t, "raymond", "ricart-agrawala")
	c.Parallel = until(t, 3)
	page, picture := pages(t, mustRun(t, c))
	if !strings.Contains(page, "Interrupted after 3 of 16 runs") || !strings.Contains(picture, "INTERRUPTED after 3 of 16 runs") {
		t.Error("page or picture do not say that it was interrupted")
	}
	c.Parallel = jobs.Parallel{}
	page, picture = pages(t, mustRun(t, c))
	if all := strings.ToLower(page + picture); strings.Contains(all, "interrupted") || strings.Contains(all, "stopped") {
		t.Error("a comparison that came to its end says that it was interrupted")
	}
	m, err := compare.RunDeadlock(compare.DeadlockConfig{Methods: deadlock.Kept(), Processes: []int{2, 5}, Locks: 6, Sites: 3, Transactions: 40, Seed: 1, Parallel: until(t, 4)})
	if err != nil {
		t.Fatal(err)
	}
	page, picture = pages(t, Methods{m})
	if !strings.Contains(page, "Interrupted after 4 of 22 runs") || !strings.Contains(picture, "INTERRUPTED after 4 of 22 runs") {
		t.Error("page or picture do not say that it was interrupted")
	}
}

// A picture stands alone: every algorithm is in the key and in each chart, and
// nothing comes from elsewhere.
func TestPicture(t *testing.T) {
	c := small(t, catalogNames()...)
	picture := mustRun(t, c).SVG()
	for _, name := range catalogNames() {
		if n := strings.Count(picture, ">"+name+"</text>"); n != 1 {
			t.Errorf("%s is %d times in the key", name, n)
		}
	}
	lines := strings.Count(picture, `<g class="line`)
	if want := len(catalogNames()) * (4 + 1); lines != want { // four loads, and the key
		t.Errorf("%d lines, want %d", lines, want)
	}
	for _, bad := range []string{"var(", "url(", "href", "@import", "NaN"} {
		if strings.Contains(picture, bad) {
			t.Errorf("the picture contains %q", bad)
		}
	}
	m, err := compare.RunDeadlock(compare.DeadlockConfig{Methods: deadlock.Kept(), Processes: []int{2, 5}, Locks: 6, Sites: 3, Transactions: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	picture = Methods{m}.SVG()
	for _, says := range []string{">detect-central, change</text>", ">Throughput, commits per T</text>", ">Messages per transaction, messages</text>"} {
		if strings.Count(picture, says) != 1 {
			t.Errorf("the picture does not say %s once", says)
		}
	}
}

// The markers of the page are beside names, not only colours.
func TestMarkersBesideNames(t *testing.T) {
	c := small(t, "raymond", "ricart-agrawala")
	data, err := mustRun(t, c).HTML()
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, want := range []string{
		`<td class="best c`, `<svg class="of"`, `<svg class="sample"`, `<h3 class="c`, `<path class="lead"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if n := strings.Count(page, `<svg class="of" `) - strings.Count(page, `class="best c`); n != len(c.Specs) { // the cards
		t.Errorf("%d markers beside names of cards, want %d", n, len(c.Specs))
	}
}

// TestDeadlockReport: every method in each of its modes has a line in every
// chart and its numbers in the table, and workers do not matter.
func TestDeadlockReport(t *testing.T) {
	run := func(workers int) string {
		m, err := compare.RunDeadlock(compare.DeadlockConfig{
			Methods: deadlock.Methods(), Processes: []int{2, 5}, Locks: 6, Sites: 3, Transactions: 40, Seed: 1, Parallel: jobs.Parallel{Workers: workers},
		})
		if err != nil {
			t.Fatal(err)
		}
		page, err := Methods{m}.HTML()
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	page := run(1)
	if page != run(3) {
		t.Error("the report depends on the number of workers")
	}
	for _, name := range []string{"none", "wait-die", "detect-central, demand", "detect-central, batch", "detect-distributed"} {
		if n := strings.Count(page, "<td>"+name+"</td>"); n != 2 {
			t.Errorf("%s has %d rows of numbers, want 2", name, n)
		}
	}
	if n := strings.Count(page, `class="chart"`); n != len(compare.DeadlockMeasures()) {
		t.Errorf("%d charts, want %d", n, len(compare.DeadlockMeasures()))
	}
	if strings.Contains(page, "{{") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the template was not filled in")
	}
}

// The page must need nothing from elsewhere, and its pictures must be
// well-formed.
func TestPageStandsAlone(t *testing.T) {
	page, err := mustRun(t, small(t, catalogNames()...)).HTML()
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, bad := range []string{"http://", "https://", "<script", "@import", "url(", "src=", "ZgotmplZ", "NaN", "Inf"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	pictures := regexp.MustCompile(`(?s)<svg class="chart".*?</svg>`).FindAllString(text, -1)
	if want := len(catalogNames())*3 + 4*2*2; len(pictures) != want {
		t.Errorf("%d pictures, want %d", len(pictures), want)
	}
	for _, p := range pictures {
		d := xml.NewDecoder(strings.NewReader(p))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, p)
			}
		}
	}
}

func TestSpreadKeepsNamesApart(t *testing.T) {
	var all []name
	for range 8 {
		all = append(all, name{at: 95, text: 95})
	}
	spread(all, 10, 100)
	for i := range all {
		if all[i].text > 100 || all[i].text < 10 || i > 0 && all[i].text-all[i-1].text < nameHeight {
			t.Fatalf("names at %v", all)
		}
	}
}
