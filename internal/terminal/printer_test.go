package terminal

import (
	"bytes"
	"testing"
)

// Output for an ASCII screen is as wide as before, in whatever pieces it is written.
func TestScreenWriter(t *testing.T) {
	const text = "P1 ┠────► P2 · asks … ▇▇▇ ☃\n"
	for size := 1; size < len(text); size++ {
		var out bytes.Buffer
		s := newScreenWriter(&out)
		s.ascii = true
		for b := []byte(text); len(b) > 0; {
			n, err := s.Write(b[:min(size, len(b))])
			if err != nil || n == 0 {
				t.Fatal(n, err)
			}
			b = b[n:]
		}
		if want := "P1 +----> P2 ; asks ~ ### ?\n"; out.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
	var out bytes.Buffer
	if _, err := newScreenWriter(&out).Write([]byte(text)); err != nil || out.String() != text {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// The locale is the first of three variables that is set.
func TestLocaleIsUnicode(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", true}, {"", "", "C", false}, {"", "", "en_US.UTF-8", true}, {"", "", "de_DE.ISO-8859-1", false},
		{"", "C.utf8", "C", true}, {"POSIX", "C.utf8", "en_US.UTF-8", false},
	} {
		got := localeIsUnicode(func(name string) string {
			return map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}[name]
		})
		if got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
