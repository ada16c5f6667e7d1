package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/lab/bank"
)

// sceneOutput returns the output of the command, with blanks squeezed.
func sceneOutput(t *testing.T, args string) (string, error) {
	t.Helper()
	text, err := execute(newScene(), strings.Fields(args)...)
	return strings.Join(strings.Fields(text), " "), err
}

// Every scene shows by itself what goes wrong, and that locks help.
func TestScenesShow(t *testing.T) {
	sound := len(slices.DeleteFunc(catalog.Sound(), func(s algorithm.Spec) bool { return s.Accepts(4) != nil }))
	for _, s := range bank.Scenes() {
		text, err := sceneOutput(t, s.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{s.Title + ", without a lock", s.Does, " 1 " + s.Twice, fmt.Sprintf("%d get it right", sound), s.Lane} {
			if !strings.Contains(text, want) {
				t.Errorf("scene %s does not say %q:\n%s", s.Name, want, text)
			}
		}
		if text, err = sceneOutput(t, s.Name+" --lock raymond --each 3"); err != nil || !strings.Contains(text, "No "+s.Thing+" is taken twice. 12 "+s.Thing+"s taken") {
			t.Errorf("with raymond: %v, %s", err, text)
		}
	}
}

// The printed text matches the result of the run.
func TestSceneText(t *testing.T) {
	for args, want := range map[string]string{
		"ids --nodes 1 --lock none":                              "No id is taken twice. 1 id taken",
		"ids --nodes 3 --lock none":                              "That is luck",
		"seats --nodes 30 --lock none":                           "more). The same happens to",
		"tasks --nodes 9 --lock maekawa-naive --each 9 --seed 2": "requests are no longer granted",
	} {
		if text, _ := sceneOutput(t, args); !strings.Contains(text, want) {
			t.Errorf("scene %s does not say %q:\n%s", args, want, text)
		}
	}
	for args, want := range map[string]string{
		"":                      "needs the name of a scene",
		"seat":                  "did you mean seats",
		"seats ids":             "one at a time",
		"x.stile":               "stile-lab replay",
		"seats --lock wait-die": "method against deadlock",
		"seats --lock bully":    "no critical section",
	} {
		if _, err := sceneOutput(t, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("scene %s: %v, want %q", args, err, want)
		}
	}
}
