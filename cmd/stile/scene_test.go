package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/world/bank"
)

func sceneTold(t *testing.T, args string) (string, error) {
	t.Helper()
	c := newScene()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(strings.Fields(args))
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.Execute()
	return strings.Join(strings.Fields(out.String()), " "), err
}

// Every scene shows by itself what goes wrong, and that locks help.
func TestScenesShow(t *testing.T) {
	sound := len(slices.DeleteFunc(catalog.Sound(), func(s algorithm.Spec) bool { return s.Accepts(4) != nil }))
	for _, s := range bank.Scenes() {
		text, err := sceneTold(t, s.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{s.Title + ", without a lock", s.Does, " 1 " + s.Twice, fmt.Sprintf("right with %d of them", sound), s.Lane} {
			if !strings.Contains(text, want) {
				t.Errorf("scene %s does not say %q:\n%s", s.Name, want, text)
			}
		}
		if text, err = sceneTold(t, s.Name+" --lock raymond --each 3"); err != nil || !strings.Contains(text, "No "+s.Thing+" is taken twice. 12 "+s.Thing+"s taken") {
			t.Errorf("with raymond: %v, %s", err, text)
		}
	}
}

// What is said follows from the run.
func TestWhatIsSaid(t *testing.T) {
	for args, want := range map[string]string{
		"ids --nodes 1 --lock none":                              "No id is taken twice. 1 id taken",
		"ids --nodes 3 --lock none":                              "That is luck",
		"seats --nodes 30 --lock none":                           "more). So it is with",
		"tasks --nodes 9 --lock maekawa-naive --each 9 --seed 2": "whoever asks is not let in any more",
	} {
		if text, _ := sceneTold(t, args); !strings.Contains(text, want) {
			t.Errorf("scene %s does not say %q:\n%s", args, want, text)
		}
	}
	for args, want := range map[string]string{
		"":                      "needs the name of a scene",
		"seat":                  "did you mean seats",
		"seats ids":             "one by one",
		"x.stile":               "stile replay",
		"seats --lock wait-die": "method against deadlock",
		"seats --lock bully":    "no critical section",
	} {
		if _, err := sceneTold(t, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("scene %s: %v, want %q", args, err, want)
		}
	}
}
