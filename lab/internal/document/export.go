package document

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// An Export is a run as a file to share.
type Export struct {
	File  string `json:"file"`
	Media string `json:"media"`
	Data  string `json:"data"`
}

// mostClocks is the maximum number of clock entries in a log for ShiViz: each event has one
// for every lane.
const mostClocks = 2_000_000

// ExportAs writes the run of a text as svg, shiviz or json, as 'stile-lab replay' writes them;
// as scenario: the text itself, with a file name; or as command: what to type to see the
// same run. It refuses a run that is cut in a Document, because nothing in the file would
// say that the run continues.
func ExportAs(text, as string, o Options) (*Export, error) {
	if scenario.IsGraph(text) {
		return exportGraph(text, as, o)
	}
	sc, err := parse(text, o)
	if err != nil {
		return nil, located(err)
	}
	name := fileName(cmp.Or(sc.Title, sc.Algorithm))
	if e := exportText(text, as, name); e != nil {
		return e, nil
	}
	spec, err := SpecOf(sc, o.Specs)
	if err != nil {
		return nil, located(err)
	}
	back, err := sim.Replay(spec, sc, sim.ReplayOptions{Until: MaxEvents, Over: o.Over})
	if err != nil {
		return nil, located(err)
	}
	t := back.Captioned()
	entries := len(t.Events) * (sc.Processes + sc.Sites)
	if back.Stopped || as == "shiviz" && entries > mostClocks {
		return nil, fmt.Errorf("the run is too long to export as %s: use 'stile-lab replay --trace', or add a line such as until 50", as)
	}
	switch as {
	case "svg":
		return &Export{name + ".svg", "image/svg+xml", t.SVG(trace.Options{})}, nil
	case "shiviz":
		return &Export{name + ".shiviz", "text/plain", t.ShiViz()}, nil
	case "json":
		data, err := t.JSON()
		return &Export{name + ".json", "application/json", string(data)}, err
	}
	return nil, fmt.Errorf("cannot export as %q: want svg, shiviz, json, scenario or command", as)
}

// exportGraph is ExportAs for a graph of resources.
func exportGraph(text, as string, o Options) (*Export, error) {
	g, err := parseGraph(text, o)
	if err != nil {
		return nil, located(err)
	}
	name := fileName(g.Title)
	if e := exportText(text, as, name); e != nil {
		return e, nil
	}
	if as != "svg" {
		return nil, errors.New("a resource graph has no run: want svg, scenario or command")
	}
	d := runGraph(g)
	if d.Error != nil {
		return nil, d.Error
	}
	return &Export{name + ".svg", "image/svg+xml", d.SVG}, nil
}

// exportText exports what needs no run; it returns nil for the rest.
func exportText(text, as, name string) *Export {
	switch as {
	case "scenario":
		return &Export{name + ".stile", "text/plain", text}
	case "command":
		return &Export{"command.txt", "text/plain", "stile-lab replay " + name + ".stile\n"}
	}
	return nil
}

// longestName is the maximum length of a file name.
const longestName = 40

// fileName makes a file name from a title: lower-case letters and digits, with a dash
// between words.
func fileName(title string) string {
	var b strings.Builder
	dash := false
	for _, c := range strings.ToLower(title) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			dash = b.Len() > 0
			continue
		}
		if b.Len() >= longestName && dash {
			break
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		if b.WriteRune(c); b.Len() > 2*longestName {
			break
		}
	}
	return cmp.Or(b.String(), "scenario")
}
