package pages

import (
	_ "embed" // the text that is written by hand
	"fmt"
	"strings"
)

//go:embed notes.txt
var handwritten string

// A note is what is written by hand about an algorithm.
type note struct {
	name     string
	source   string // file of its code
	picture  string // worked example that is drawn
	graph    bool   // whether to draw its wait-for graph instead of its run
	idea     string
	use      string
	mistakes string // a list
}

// parseNotes reads notes.txt. A note begins with a line "== NAME", followed by lines
// "source: FILE" and "picture: SCENARIO", or "graph: SCENARIO", and the idea. The lines "-- use" and "-- mistakes"
// begin the other parts.
func parseNotes(text string) ([]note, error) {
	var all []note
	for i, part := range strings.Split("\n"+text, "\n== ") {
		if i == 0 {
			if strings.TrimSpace(part) != "" {
				return nil, fmt.Errorf("notes.txt begins with %.40q: begin with == NAME", part)
			}
			continue
		}
		n, err := parseNote(part)
		if err != nil {
			return nil, fmt.Errorf("notes.txt, %s: %w", n.name, err)
		}
		all = append(all, n)
	}
	return all, nil
}

func parseNote(part string) (note, error) {
	var n note
	n.name, part, _ = strings.Cut(part, "\n")
	head, part, ok := strings.Cut(part, "\n\n")
	if !ok {
		return n, fmt.Errorf("there is no idea: write a paragraph after an empty line")
	}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "source":
			n.source = value
		case "picture", "graph":
			n.picture, n.graph = value, key == "graph"
		default:
			return n, fmt.Errorf("unknown line %q: want source, picture or graph", line)
		}
	}
	var rest string
	n.idea, rest, _ = strings.Cut(part, "\n-- use\n")
	n.use, n.mistakes, _ = strings.Cut(rest, "\n-- mistakes\n")
	n.idea, n.use, n.mistakes = strings.TrimSpace(n.idea), strings.TrimSpace(n.use), strings.TrimSpace(n.mistakes)
	if n.source == "" || n.picture == "" || n.idea == "" || n.use == "" || n.mistakes == "" {
		return n, fmt.Errorf("a part is missing: want source, picture, idea, -- use and -- mistakes")
	}
	return n, nil
}
