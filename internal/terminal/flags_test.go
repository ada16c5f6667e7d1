package terminal

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A name with another extension is refused, and the flag keeps its value.
func TestOutputFileFlag(t *testing.T) {
	for _, test := range []struct {
		endings string
		path    string
		fits    bool
	}{
		{".svg", "x.svg", true}, {".svg", "x.SVG", true}, {".svg", "x", true}, {".svg", "/dev/stdout", true}, {".svg", "a.b/x", true},
		{".svg", ".", true}, {".svg", "x.png", false}, {".svg", "x.svg.gz", false}, {".svg", "", false}, {".svg", "-", false}, {".svg", "./-", true},
		{".json .txt", "x.json", true}, {".json .txt", "x.txt", true}, {".json .txt", "x", false}, {".json .txt", "x.svg", false},
	} {
		to := "before"
		err := OutputFileFlag(&to, strings.Fields(test.endings)...).Set(test.path)
		if (err == nil) != test.fits || err == nil && to != test.path || err != nil && to != "before" {
			t.Errorf("%q for %s: %v, and it is %q", test.path, test.endings, err, to)
		}
	}
}

// Refuse and Only refuse the flags that they should, and no other.
func TestRefuseFlags(t *testing.T) {
	for _, test := range []struct {
		given        string
		refuse, only bool // whether they refuse it
	}{{"", false, false}, {"--a", true, false}, {"--b", false, true}, {"--a --b", true, true}} {
		c := &cobra.Command{}
		c.Flags().Bool("a", false, "")
		c.Flags().Bool("b", false, "")
		if err := c.ParseFlags(strings.Fields(test.given)); err != nil {
			t.Fatal(err)
		}
		if err := RefuseFlags(c, "a", "no --FLAG"); (err != nil) != test.refuse || err != nil && err.Error() != "no --a" {
			t.Errorf("%q: Refuse says %v", test.given, err)
		}
		if err := OnlyFlags(c, "a", "no --FLAG"); (err != nil) != test.only || err != nil && err.Error() != "no --b" {
			t.Errorf("%q: Only says %v", test.given, err)
		}
	}
}

// No text flag takes empty text.
func TestTextFlagRefusesEmpty(t *testing.T) {
	var to string
	for _, v := range []pflag.Value{TextFlag(&to, "x", nil), ChoiceFlag(&to, "a", "b"), OutputFileFlag(&to, ".svg")} {
		for _, s := range []string{"", " ", "\t\n"} {
			if err := v.Set(s); err == nil || !strings.HasPrefix(err.Error(), "must be ") {
				t.Errorf("%T takes %q: %v", v, s, err)
			}
		}
	}
}
