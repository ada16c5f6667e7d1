package style

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestPlanted shows that each rule finds what it should find.
func TestPlanted(t *testing.T) {
	for _, rule := range rules() {
		t.Run(rule.name, func(t *testing.T) {
			offenders := 0
			for _, p := range rule.plants {
				if p.want != "" {
					offenders++
				}
				found := plantedIn(t, rule, p.files)
				switch {
				case p.want == "" && len(found) > 0:
					t.Errorf("%q is innocent, but the rule finds %q", p.files, found)
				case p.want != "" && (len(found) != 1 || !strings.Contains(found[0], p.want)):
					t.Errorf("%q: the rule finds %q, want one finding with %q", p.files, found, p.want)
				}
			}
			if offenders == 0 {
				t.Error("no planted offender")
			}
		})
	}
}

func plantedIn(t *testing.T, rule rule, files map[string]string) []string {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, src := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(src)}
	}
	r, err := load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	found, err := rule.check(r)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// source returns a repository of one Go file.
func source(name string, lines ...string) map[string]string {
	return map[string]string{name: strings.Join(lines, "\n") + "\n"}
}
