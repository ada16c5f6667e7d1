package lab

import (
	"slices"
	"testing"
)

// TestWaitFollowsMessages: a message that is sent, comes or is lost changes what
// the sentences say, also if nobody's state changes.
func TestWaitFollowsMessages(t *testing.T) {
	for _, c := range []struct {
		text string
		kind string // of the event after which it is looked
		name string
		proc int
		want string
	}{
		{"algorithm suzuki-kasami\nprocesses 2\nat 0 P2 asks\nat 1.5 drop 1 -> 2 TOKEN\n", "drop", "TOKEN", 1, "waits for the token, which nobody has"},
		{"algorithm raymond\ntopology line\nprocesses 60\nhold 9\nat 0 P1 asks\nat 0 P3 asks\nat 9.5 drop 1 -> 2 PRIVILEGE\nat 9.6 P1 asks\n", "violation", "lost-request", 2, "waits for the token: it asked P2; P2 asked P1; P1 asked P2; and so on round in a circle"},
		{"algorithm bakery\nprocesses 2\nat 0 P1 asks\n", "send", "VALUE", 0, "waits for VALUE from P2; it is on its way"},
		{"algorithm central-deny\nprocesses 3\nhold 9\nat 0 P2 asks\nat 4 P3 asks\n", "send", "DENIED", 2, "waits for GRANT from P1; DENIED is on its way from there"},
	} {
		d := run(c.text, Options{}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Kind == c.kind && e.Name == c.name })
		if got := d.at(i + 1).Waits[c.proc]; i < 0 || got != c.want {
			t.Errorf("%safter event %d: %q, want %q", c.text, i, got, c.want)
		}
	}
}
