package spell

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"maekawa", "raymond", "central", "central-deny"}
	for found, want := range map[string]string{
		"maekwa": "maekawa", "Raymond": "raymond", "cent": "central", "centrl": "central",
		"": "", "zookeeper": "", "ra": "", "maekawamaekawamaekawa": "",
	} {
		if got := Nearest(found, words...); got != want {
			t.Errorf("Nearest(%q) is %q, want %q", found, got, want)
		}
	}
}
