package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the root of the repository.
const root = "../.."

// readFile returns a file of the repository.
func readFile(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// verify has systemd read a unit, whose command is replaced by one that exists, and returns
// what it objects to.
func verify(t *testing.T, unit string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stile.service")
	unit = regexp.MustCompile(`(?m)^ExecStart=\S+`).ReplaceAllString(unit, "ExecStart=/bin/true")
	if err := os.WriteFile(path, []byte(unit), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

// systemd accepts the unit without a word.
func TestUnit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("LEFT OUT: systemd-analyze is missing: install systemd")
	}
	unit := readFile(t, "packaging", "systemd", "stile.service")
	if said := verify(t, unit); said != "" {
		t.Errorf("systemd-analyze verify:\n%s", said)
	}
	for old, broken := range map[string]string{ // what it must find
		"PrivateTmp=": "PrivateTemp=",
		"=on-failure": "=on-failures",
		"=30s":        "=30 parsecs",
	} {
		if verify(t, strings.Replace(unit, old, broken, 1)) == "" {
			t.Errorf("systemd-analyze does not object to %s", broken)
		}
	}
}

// The restart policy of the unit fits the exit codes and the flags of 'stile serve'.
func TestUnitPolicy(t *testing.T) {
	unit := readFile(t, "packaging", "systemd", "stile.service")
	for _, line := range []string{"Type=notify", "WatchdogSec=30s", "Restart=on-failure", "RestartPreventExitStatus=2", "Environment=GOTRACEBACK=crash", "StartLimitIntervalSec=0", "User=stile"} {
		if !strings.Contains("\n"+unit, "\n"+line+"\n") {
			t.Errorf("the unit has no line %s", line)
		}
	}
	if user := readFile(t, "packaging", "systemd", "stile.sysusers"); !strings.Contains(user, "\nu stile ") {
		t.Errorf("no user stile is created: %s", user)
	}
}
