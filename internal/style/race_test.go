package style

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// Without a C compiler the race tests are skipped with a message, and in continuous
// integration that is an error.
func TestRaceWithoutCompiler(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is for bash")
	}
	for _, test := range []struct {
		env, says string
		fails     bool
	}{
		{"CC=/nonexistent", "the race tests were left out: there is no C compiler (/nonexistent): install", false},
		{"CGO_ENABLED=0", "the race tests were left out: CGO_ENABLED is 0", false},
		{"CC=/nonexistent CI=true", "cannot run the race tests, which CI must run", true},
		{"CGO_ENABLED=0 CI=true", "cannot run the race tests, which CI must run", true},
	} {
		race := exec.Command("tools/detect-races.sh", "./no/such/package")
		race.Dir = root
		race.Env = append(os.Environ(), append([]string{"CI=", "CC=", "CGO_ENABLED="}, strings.Fields(test.env)...)...)
		out, err := race.CombinedOutput()
		if (err != nil) != test.fails || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), test.says) {
			t.Errorf("%s: %v, and it says %q; want one line with %q", test.env, err, out, test.says)
		}
	}
}
