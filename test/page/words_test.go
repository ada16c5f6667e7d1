package page

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// told is what a page of the documentation, or the page of keys, says that can be done,
// and the controls that are tried for it: fixture and name.
type told map[string][]string

// inDocs is what docs/lab.md says that can be done.
var inDocs = told{
	"without a file the gallery":             {"gallery/an exhibit", "dialogs/gallery"},
	"a bank that loses 10,000":               {"gallery/another exhibit"},
	"\"New\" makes a scenario":               {"dialogs/fresh", "fresh/write it"},
	"of an algorithm":                        {"fresh/Algorithm"},
	"a number of processes":                  {"fresh/Processes"},
	"a network, latencies and a load":        {"fresh/Network", "fresh/Latency", "fresh/Requests"},
	"step, go back, play":                    {"time/step", "time/step back", "time/play"},
	"jump to the next entry or violation":    {"time/next entry", "broken/next violation"},
	"click a process to make it ask":         {"processes/asks"},
	"leave, crash, restart or pause":         {"processes/leaves", "processes/crashes", "struck/restarts", "processes/pauses"},
	"to deliver, delay, drop or duplicate":   {"messages/arrives now", "messages/takes 1 T longer", "messages/is lost", "messages/arrives twice"},
	"\"every interleaving\" of the group":    {"dialogs/check"},
	"up to a chosen number of requests":      {"dialogs/how often each asks"},
	"shortest counterexample, which opens":   {"dialogs/open a counterexample"},
	"The button that stops it":               {"dialogs/stop a check"},
	"algorithms over sizes, rest and hold":   {"dialogs/sizes", "dialogs/rests", "dialogs/holds"},
	"export** SVG, PNG, JSON, ShiViz":        {"export/Save SVG", "export/Save PNG", "export/Save JSON", "export/Save ShiViz"},
	"the scenario, and the command line for": {"export/Save Scenario", "export/Copy Command line"},
	"Undo works on the text":                 {"editor/undo"},
	"a branch is a copy of it":               {"editor/branch"},
	"\"next moves\" lists everything":        {"time/next moves", "time/a move", "time/back from a move"},
	"`s` goes to the next one":               {"time/next caption"},
	"`p` presents":                           {"time/present", "time/speaker notes"},
	"\"Predict\" (`q`) asks":                 {"time/predict", "time/an answer"},
	"\"Page\" saves one HTML file":           {"export/Save Page"},
	"\"Frame\" copies an `<iframe>`":         {"export/Copy Frame"},
	"the picture of the group, as it is or":  {"export/Save Group", "export/Save animated Group"},
	"`?` on the page lists the keys":         {"dialogs/help"},
}

// inHelp is what the page itself says of its keys.
var inHelp = told{
	"Space": {"time/play", "time/pause"}, "→": {"time/step"}, "←": {"time/step back"},
	"Shift →": {"time/an event on"}, "Shift ←": {"time/an event back"},
	"Home": {"time/first"}, "End": {"time/last"}, "e": {"time/next entry", "elections/next leader"}, "v": {"broken/next violation"},
	"+": {"time/faster"}, "-": {"time/slower"}, "1 … 9": {"processes/a process"}, "Tab": {"processes/a process", "processes/a process is chosen"},
	"m": {"messages/a message"}, "i": {"time/past and future of an event"}, "c": {"time/how two events relate"},
	"t": {"time/by event", "time/by time"}, "l": {"editor/the text", "editor/the text is left"},
	"u or Ctrl Z": {"editor/undo"}, "r or Ctrl Y": {"editor/redo"},
	"s": {"time/next caption"}, "S": {"time/the caption before"}, "Page down": {"time/next caption", "time/the caption before"},
	"p": {"time/present"}, "w": {"time/speaker notes"}, "q": {"time/predict", "time/the end of a quiz"},
	"g": {"dialogs/gallery"}, "n": {"dialogs/fresh"}, "k": {"dialogs/check"}, "o": {"dialogs/compare"}, "x": {"dialogs/export"}, "?": {"dialogs/help"},
}

// untried lists what is told and not tried.
func (all told) untried(t testing.TB) []string {
	tried := map[string]bool{}
	for _, s := range fixtures(t) {
		for _, c := range s.controls {
			tried[s.name+"/"+c.name] = true
		}
	}
	var missing []string
	for _, words := range slices.Sorted(maps.Keys(all)) {
		for _, name := range all[words] {
			if !tried[name] {
				missing = append(missing, words+": "+name)
			}
		}
	}
	return missing
}

// What docs/lab.md says that can be done is tried by TestEveryControl, and each of its
// points is.
func TestDocsAreTried(t *testing.T) {
	data, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(data), "## What can be done\n")
	list, _, _ = strings.Cut(list, "\n![")
	page := strings.Join(strings.Fields(string(data)), " ")
	for words := range inDocs {
		if !strings.Contains(page, words) {
			t.Errorf("docs/lab.md does not say %q any more", words)
		}
	}
	for point := range strings.SplitSeq(list, "\n- ") {
		point = strings.Join(strings.Fields(point), " ")
		if !slices.ContainsFunc(slices.Collect(maps.Keys(inDocs)), func(words string) bool { return strings.Contains(point, words) }) && point != "" {
			t.Errorf("nothing of this is tried: %s", point)
		}
	}
	for _, what := range inDocs.untried(t) {
		t.Errorf("docs/lab.md: %s is not among the controls", what)
	}
	if missing := (told{"dance": {"time/dance"}}).untried(t); len(missing) != 1 {
		t.Errorf("what is not tried is not seen: %q", missing)
	}
}

// Every key that the page names is tried.
func TestHelpIsTried(t *testing.T) {
	v := &visit{page: show(t, byHand)}
	v.key("?")
	v.see(".keys")
	if got, want := slices.Sorted(slices.Values(eval[[]string](v.page, `[...document.querySelectorAll(".keys dt")].map((e) => e.innerText)`))), slices.Sorted(maps.Keys(inHelp)); !slices.Equal(got, want) {
		t.Errorf("the page names the keys %q, and %q are tried", got, want)
	}
	for _, what := range inHelp.untried(t) {
		t.Errorf("help: %s is not among the controls", what)
	}
}
