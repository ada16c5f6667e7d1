package document

import (
	"strings"
	"testing"
)

// TestExportsAreWhole: a run that is too long is refused, not cut without a word.
func TestExportsAreWhole(t *testing.T) {
	asked := 0
	soon := Options{Over: func() bool { asked++; return asked > 500 }}
	const endless = "algorithm token-ring\nprocesses 3\nat 0 P1 asks\nat 99999 P1 asks\n"
	for _, c := range []struct {
		text, as string
		o        Options
		long     bool
	}{
		{endless, "svg", soon, true},
		{endless, "json", soon, true},
		{endless, "shiviz", soon, true},
		{endless, "scenario", soon, false},
		{busy("ricart-agrawala", 1), "shiviz", Options{}, true}, // 39,900 events of 100
		{busy("ricart-agrawala", 1), "json", Options{}, false},
		{bare("raymond", false), "shiviz", Options{}, false},
	} {
		asked = 0
		e, err := ExportAs(c.text, c.as, c.o)
		switch {
		case !c.long && err != nil:
			t.Errorf("%.40q as %s: %v", c.text, c.as, err)
		case c.long && (err == nil || !strings.Contains(err.Error(), "too long")):
			t.Errorf("%.40q as %s: %v, %d bytes", c.text, c.as, err, len(e.Data))
		}
	}
}
