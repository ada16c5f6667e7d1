package spell

import "testing"

func TestEither(t *testing.T) {
	for _, test := range []struct {
		words []string
		want  string
	}{{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a or b"}, {[]string{"a", "b", "c"}, "a, b or c"}} {
		if got := Either(test.words...); got != test.want {
			t.Errorf("Either(%q) is %q, want %q", test.words, got, test.want)
		}
	}
}

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
