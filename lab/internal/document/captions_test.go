package document

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/scenarios"
)

// A caption appears when the step is over in which its moment comes, in a timed run and in
// steps.
func TestCaptionsAtSteps(t *testing.T) {
	for _, text := range []string{
		"algorithm ricart-agrawala\nprocesses 3\nsay \"a\"\nat 0 P1 asks\nwhen P1 enters say \"b\"\n",
		"algorithm ricart-agrawala\nprocesses 2\nschedule steps\nsay \"a\"\nP1 asks\nsay \"b\"\ndeliver all\n",
	} {
		d := Run(text, Options{})
		if d.Error != nil {
			t.Fatal(d.Error)
		}
		if len(d.Captions) != 2 || d.Captions[0].Event != 0 || d.Captions[0].Text != "a" || d.Captions[1].Event == 0 {
			t.Fatalf("captions %+v", d.Captions)
		}
		if at := d.Captions[1].Event; at < len(d.Events) && d.Events[at].Part {
			t.Errorf("a caption comes after %d events, in the middle of a step", at)
		}
	}
}

// Worked examples have captions, except graphs, in which nothing happens. All of them appear,
// each at another moment.
func TestCaptionsOfExamples(t *testing.T) {
	files, err := fs.Glob(scenarios.Files, "*.stile")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := scenarios.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := Run(string(text), Options{})
		if d.Error != nil {
			t.Fatalf("%s: %v", file, d.Error)
		}
		said := strings.Count("\n"+string(text), "say \"")
		if len(d.Captions) != said {
			t.Errorf("%s: %d of %d captions appear", file, len(d.Captions), said)
		}
		for i, c := range d.Captions {
			if i > 0 && c.Event == d.Captions[i-1].Event {
				t.Errorf("%s: the caption %q appears at the same moment as the one before", file, c.Text)
			}
			if testing.Verbose() {
				last := ""
				if c.Event > 0 {
					last = fmt.Sprint(d.Events[c.Event-1])
				}
				t.Logf("%s at %d of %d: %s\n      %s", file, c.Event, len(d.Events), c.Text, last)
			}
		}
		if graph := strings.HasPrefix(file, "graph-"); graph == (said > 0) {
			t.Errorf("%s: it has %d captions", file, said)
		}
	}
}
