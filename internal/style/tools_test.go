package style

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What tests need is installed where possible. Otherwise they are skipped with a message,
// which is an error in continuous integration where it should have been possible.
func TestToolsMissing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for bash")
	}
	const works, broken = "touch $(dirname $0)/initdb; chmod +x $(dirname $0)/initdb", "exit 100"
	for _, test := range []struct {
		line, user, apt, ci string
		says                string
		fails               bool
	}{
		{"postgres.sh", "0", works, "true", "apt-get update", false},
		{"postgres.sh", "0", broken, "", "tools: the tests of fences will be left out", false},
		{"postgres.sh", "0", broken, "true", "CI must try fences", true},
		{"postgres.sh", "1000", broken, "true", "tools: the tests of fences will be left out", false},
		{"postgres.sh left", "0", broken, "true", "the tests of fences were left out", false},
		{"languages.sh", "0", "for p in curl python3 node; do touch $(dirname $0)/$p; chmod +x $(dirname $0)/$p; done", "true", "install -qy --no-install-recommends curl python3 nodejs", false},
		{"languages.sh", "0", broken, "", "tools: the scripts of docs/http.md will not all be run: install curl python3 node", false},
		{"languages.sh", "0", broken, "true", "CI must run the scripts", true},
		{"languages.sh left", "0", broken, "true", "the scripts of docs/http.md were not all run", false},
		{"cluster.sh 1", "0", broken, "true", "cannot install what CI must have: iproute2 strace", true},
		{"cluster.sh", "1000", broken, "true", "were left out: that needs Linux and root", false},
		{"cluster.sh", "0", broken, "true", "were left out: there is no 'ip'", false},
	} {
		bin := onlyCommands(t, map[string]string{"id": "echo " + test.user, "uname": "echo Linux", "apt-get": "echo apt-get $*; " + test.apt})
		name, args, _ := strings.Cut(test.line, " ")
		b, err := os.ReadFile(filepath.Join(root, "tools", name))
		if err != nil {
			t.Fatal(err)
		}
		// Hide any PostgreSQL installed on this machine.
		script := strings.ReplaceAll(string(b), "/usr/lib/postgresql", filepath.Join(bin, "postgresql"))
		path := filepath.Join(bin, name)
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("bash", append([]string{path}, strings.Fields(args)...)...)
		c.Env = []string{"PATH=" + bin, "CI=" + test.ci}
		out, err := c.CombinedOutput()
		if (err != nil) != test.fails || !strings.Contains(string(out), test.says) {
			t.Errorf("%+v: %v, and it says %q", test, err, out)
		}
	}
}

// onlyCommands makes a folder of commands: these, and the few others that scripts need.
func onlyCommands(t *testing.T, scripts map[string]string) string {
	t.Helper()
	bin := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dirname", "touch", "chmod"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(bin, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return bin
}
