package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every setting in the packages is a flag of 'stile serve', or STILE_ADDR, which the
// commands that ask a node use.
func TestPackagedSettings(t *testing.T) {
	known := strings.Fields(serveSettings)
	for file, least := range map[string]int{"kubernetes/stile.yaml": 8, "compose.yaml": 8, "docker/Dockerfile": 2} {
		b, err := os.ReadFile(filepath.Join("..", "..", "packaging", file))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, m := range regexp.MustCompile(`\b(STILE_[A-Z_]+)(=|, value|:|\n)`).FindAllStringSubmatch(string(b), -1) {
			seen++
			ok := m[1] == "STILE_ADDR"
			for _, flag := range known {
				ok = ok || m[1] == envVariable(flag)
			}
			if !ok {
				t.Errorf("%s: %s sets no flag", file, m[1])
			}
		}
		if seen < least {
			t.Errorf("%s: only %d settings were found", file, seen)
		}
	}
}
