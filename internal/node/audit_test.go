package node

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"testing"
)

// No key stands twice in an audit line, whatever the order is about.
func TestAuditKeys(t *testing.T) {
	for _, what := range slices.Sorted(maps.Keys(subjects)) {
		var b bytes.Buffer
		a := audit{log: slog.New(slog.NewJSONHandler(&b, nil)).With("node", "a", "logger", "audit")} // as Start makes it
		o := Order{What: what, About: "b", For: "admin alice"}
		for _, to := range []Outcome{&Released{}, &Ordered{}, &Moving{}} {
			b.Reset()
			a.done(Caller{}, askNames[what], nil, slices.Concat(o.attrs(), to.audited())...)
			seen, d := map[string]bool{}, json.NewDecoder(&b)
			_, _ = d.Token()
			for d.More() {
				key, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				if seen[key.(string)] {
					t.Errorf("%s: %v stands twice", askNames[what], key)
				}
				seen[key.(string)] = true
				if _, err := d.Token(); err != nil {
					t.Fatal(err)
				}
			}
			if !seen["who"] {
				t.Errorf("%s: found no keys", askNames[what])
			}
		}
	}
}
