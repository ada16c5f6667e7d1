package page

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/lab/calls"
	"github.com/stile-lock/stile/internal/lab/document"
)

// unoffered says which options of algorithms a form lacks, and which it has that none
// knows.
func unoffered(form string, known []calls.Choice) []string {
	_, form, _ = strings.Cut(form, "\nconst abouts")
	form, _, _ = strings.Cut(form, "\n};")
	var has, wrong []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+): \{ label`).FindAllStringSubmatch(form, -1) {
		has = append(has, m[1])
	}
	var wishes []string
	for f := range reflect.TypeFor[document.Wish]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		wishes = append(wishes, key)
	}
	var options []string
	for _, a := range known {
		for _, o := range a.Options {
			options = append(options, o)
			if !slices.Contains(has, o) || !slices.Contains(wishes, o) {
				wrong = append(wrong, a.Name+": "+o)
			}
		}
	}
	for _, o := range has {
		if !slices.Contains(options, o) {
			wrong = append(wrong, "none: "+o)
		}
	}
	return wrong
}

// TestFormOffersEveryOption: what can be said of an algorithm can be said in the form
// of a new scenario.
func TestFormOffersEveryOption(t *testing.T) {
	source, err := os.ReadFile("src/fresh.tsx")
	if err != nil {
		t.Fatal(err)
	}
	var known []calls.Choice
	err = (&calls.Calls{}).Call(context.Background(), "algorithms", nil, func(line []byte) error { return json.Unmarshal(line, &known) })
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range unoffered(string(source), known) {
		t.Error(what)
	}
	for _, a := range known { // what is offered by name is what the algorithm takes
		for option, values := range a.Values {
			for _, v := range values {
				wish := document.Wish{Algorithm: a.Name, Processes: 3}
				if option == "mode" {
					wish.Mode = v
				} else if wish.Topology = v; v == "plane" {
					wish.Processes = 7
				}
				if _, err := document.Fresh(wish, document.Options{}); err != nil {
					t.Errorf("%s, %s %s: %v", a.Name, option, v, err)
				}
			}
		}
	}
	// A form without a field, and one with a field too many, are found.
	lacking := strings.Replace(string(source), "\tinform: {", "\tinforms: {", 1)
	if got := strings.Join(unoffered(lacking, known), ", "); got != "sanders: inform, sanders+bully: inform, sanders+ring-election: inform, sanders+chang-roberts: inform, none: informs" {
		t.Errorf("a form without inform lacks %q", got)
	}
}
