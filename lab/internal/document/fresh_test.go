package document

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
)

// TestFreshOptions: everything that can be said of an algorithm can be wished for, and
// is in the text then.
func TestFreshOptions(t *testing.T) {
	wishes := map[string]string{
		"Topology":    `{"algorithm":"raymond","topology":"line"}`,
		"Sets":        `{"algorithm":"maekawa","sets":"1:1,2;2:1,2,3;3:1,3"}`,
		"Inform":      `{"algorithm":"sanders","sets":"1:1,2;2:1,2;3:1-3","inform":"1:1;2:1,2;3:1,3"}`,
		"K":           `{"algorithm":"dijkstra","k":9}`,
		"Coordinator": `{"algorithm":"central","coordinator":2}`,
		"Experiment":  `{"algorithm":"sanders","sets":"1:1;2:2;3:3","experiment":true}`,
		"Patience":    `{"algorithm":"central+bully","patience":60}`,
	}
	options := reflect.TypeFor[algorithm.Options]()
	for i := range options.NumField() {
		name := options.Field(i).Name
		var w Wish
		if err := json.Unmarshal([]byte(wishes[name]), &w); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f, ok := reflect.TypeOf(w).FieldByName(name); !ok || strings.Split(f.Tag.Get("json"), ",")[0] != strings.ToLower(name) {
			t.Errorf("nobody can wish for %s", name)
		}
		text, err := Fresh(w, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sc, err := scenario.Parse("", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if reflect.ValueOf(sc.Options).Field(i).IsZero() {
			t.Errorf("%s is not in\n%s", name, text)
		}
	}
}

// TestFreshRefuses: what cannot be written is told in words.
func TestFreshRefuses(t *testing.T) {
	for _, c := range []struct {
		wish Wish
		want string
	}{
		{Wish{Algorithm: "sanders", Inform: "1:1;2:2;3:3"}, "inform sets without request sets"},
		{Wish{Algorithm: "sanders", Sets: "1:1;2:2;3:3"}, "could both be inside"},
		{Wish{Algorithm: "raymond", Experiment: true}, "raymond has no option experiment"},
		{Wish{Algorithm: "raymond", Inform: "x\ny"}, "on one line"},
		{Wish{Algorithm: "raymond", Workload: "much"}, "unknown workload"},
		{Wish{Processes: 3}, "no algorithm"},
	} {
		if text, err := Fresh(c.wish, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q\n%s", c.wish, err, c.want, text)
		}
	}
}
