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
		"a new field":   {[]Example{kept[0], {"BYE", []byte{3, 0}}}, "BYE is now 0300"},
		"a new kind":    {append(kept[:2:2], Example{"ASK", nil}), "ASK is new"},
		"a lost kind":   {kept[:1], "BYE is no longer written"},
	} {
		if got := strings.Join(differences(kept, x.now), "\n"); !strings.HasPrefix(got, x.want) || (x.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// What can no longer be read, or is written differently, is found.
func TestReads(t *testing.T) {
	kept := []Example{{"HELLO", []byte{1}}}
	same := func(_ string, b []byte) ([]byte, error) { return b, nil }
	longer := func(_ string, b []byte) ([]byte, error) { return append(b, 0), nil }
	fails := func(string, []byte) ([]byte, error) { return nil, errors.New("malformed") }
	if w := reads(kept, same, true); len(w) != 0 {
		t.Error(w)
	}
	if w := reads(kept, longer, false); len(w) != 0 {
		t.Error("an older version need not be written any more:", w)
	}
	if len(reads(kept, longer, true)) != 1 || len(reads(kept, fails, true)) != 1 || len(reads(kept, fails, false)) != 1 {
		t.Error("a change is not found")
	}
}

// A file can be read again, and nonsense cannot.
func TestText(t *testing.T) {
	all, err := parse(text([]Example{{"HELLO", []byte{1, 255}}, {"CLOSE", nil}}))
	if err != nil || len(all) != 2 || string(all[0].Bytes) != "\x01\xff" || len(all[1].Bytes) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	for _, bad := range []string{"HELLO", "HELLO 1\n", "HELLO xy\n"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
