package lab

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// An Export is a run as a file for somebody else.
type Export struct {
	File  string `json:"file"`
	Media string `json:"media"`
	Data  string `json:"data"`
}

// ExportAs writes the run of a text as svg, shiviz or json, as 'stile replay'
// writes them, or as command: what to type to see the same.
func ExportAs(text, as string, o Options) (*Export, error) {
	if as == "command" {
		return &Export{"command.txt", "text/plain", "stile replay scenario.stile\n"}, nil
	}
	sc, err := parse(text, o)
	if err != nil {
		return nil, located(err)
	}
	if sc.IsGraph() {
		if as != "svg" {
			return nil, errors.New("a graph of resources is not run: want svg")
		}
		d := runGraph(sc)
		if d.Error != nil {
			return nil, d.Error
		}
		return &Export{"graph.svg", "image/svg+xml", d.SVG}, nil
	}
	spec, err := SpecOf(sc, o.Specs)
	if err != nil {
		return nil, located(err)
	}
	back, err := sim.Replay(spec, sc, sim.ReplayOptions{Until: MaxEvents})
	if err != nil {
		return nil, located(err)
	}
	t := back.Trace()
	switch as {
	case "svg":
		return &Export{"run.svg", "image/svg+xml", t.SVG(trace.Options{})}, nil
	case "shiviz":
		return &Export{"run.shiviz", "text/plain", t.ShiViz()}, nil
	case "json":
		data, err := t.JSON()
		return &Export{"run.json", "application/json", string(data)}, err
	}
	return nil, fmt.Errorf("cannot export as %q: want svg, shiviz, json or command", as)
}
