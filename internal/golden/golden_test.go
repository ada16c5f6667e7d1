package golden

import (
	"errors"
	"strings"
	"testing"
)

// Every kind of change is found.
func TestDifferences(t *testing.T) {
	kept := []Example{{"HELLO", []byte{1, 2}}, {"BYE", []byte{3}}}
	for name, x := range map[string]struct {
		now  []Example
		want string
	}{
		"nothing":       {kept, ""},
		"another order": {[]Example{kept[1], kept[0]}, ""},
		"a new field":   {[]Example{kept[0], {"BYE", []byte{3, 0}}}, "no longer written: BYE 03, new: BYE 0300"},
		"a new kind":    {append(kept[:2:2], Example{"ASK", nil}), "new: ASK"},
		"a lost kind":   {kept[:1], "no longer written: BYE 03"},
	} {
		if got := strings.Join(differences(text(kept), text(x.now)), ", "); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// An example that cannot be read, or is written differently, is found.
func TestAltered(t *testing.T) {
	for name, x := range map[string]struct {
		again func(string, []byte) ([]byte, error)
		want  int
	}{
		"the same": {func(_ string, b []byte) ([]byte, error) { return b, nil }, 0},
		"longer":   {func(_ string, b []byte) ([]byte, error) { return append(b, 0), nil }, 1},
		"an error": {func(_ string, b []byte) ([]byte, error) { return b, errors.New("malformed") }, 1},
	} {
		if wrong := altered([]Example{{"HELLO", []byte{1}}}, x.again); len(wrong) != x.want {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}
