//go:build linux || darwin

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// transcript returns the output that a page shows for a command.
func transcript(t *testing.T, page, command string) string {
	t.Helper()
	_, rest, began := strings.Cut(page, "```console\n$ "+command+"\n")
	out, _, ended := strings.Cut(rest, "```\n")
	if !began || !ended {
		t.Fatalf("docs/http.md does not show %q", command)
	}
	return out
}

// numbers are what differs from run to run: tokens and durations.
var numbers = regexp.MustCompile(`\d+(\.\d+)?`)

// The scripts of docs/http.md print what the page shows.
func TestHTTPScripts(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, "--memory", "--name", "a", "--http", "127.0.0.1:0", "--lease", "2s")
	url := p.waitFor(`^HTTP on (http://\S+)$`)
	b, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	for script, program := range map[string]string{
		"locks.sh": "bash", "locks.py": "python3", "locks.mjs": "node", "kept.sh": "bash", "kept.py": "python3",
	} {
		t.Run(script, func(t *testing.T) {
			needProgram(t, program)
			if program == "bash" {
				needProgram(t, "curl")
			}
			cmd := exec.Command(program, filepath.Join("..", "..", "docs", "http", script))
			cmd.Env = append(os.Environ(), "STILE_URL="+url, "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := transcript(t, string(b), fmt.Sprintf("%s docs/http/%s", program, script))
			if got := numbers.ReplaceAllString(string(out), "N"); got != numbers.ReplaceAllString(want, "N") {
				t.Errorf("the script prints\n%s\nand docs/http.md shows\n%s", out, want)
			}
		})
	}
}

// needProgram skips a test if a program is not installed. In continuous integration that is
// an error: tools/languages.sh installs it.
func needProgram(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed, and CI must run the scripts of docs/http.md", program)
	}
	t.Skipf("%s is not installed: run tools/languages.sh", program)
}

func TestHTTPAddresses(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		listen, http string
		nodes        int
		want         string
	}{
		{"127.0.0.1:7420", "", 1, "127.0.0.1:7421"},
		{"10.0.0.5:7420", "", 1, "127.0.0.1:7421"},
		{"127.0.0.1:7420", "", 3, "127.0.0.1:7423 127.0.0.1:7424 127.0.0.1:7425"},
		{"127.7.0.1:7420", "", 1, "127.7.0.1:7421"},
		{"[::1]:7420", "", 1, "[::1]:7421"},
		{"localhost:7420", "", 1, "127.0.0.1:7421"},
		{"127.0.0.1:7430", "", 1, ""},
		{"127.0.0.1:0", "", 2, " "},
		{"127.0.0.1:7420", noHTTP, 1, ""},
		{"127.0.0.1:7420", "10.0.0.5:80", 2, "10.0.0.5:80 10.0.0.5:81"},
		{"127.0.0.1:0", "127.0.0.1:0", 2, "127.0.0.1:0 127.0.0.1:0"},
	} {
		all, err := httpAddresses(x.listen, x.http, x.nodes)
		if got := strings.Join(all, " "); err != nil || got != x.want {
			t.Errorf("--listen %s --http %q --nodes %d: %q, %v; want %q", x.listen, x.http, x.nodes, got, err, x.want)
		}
	}
	if all, err := httpAddresses("127.0.0.1:0", "127.0.0.1:65535", 2); err == nil {
		t.Errorf("too few ports: %q", all)
	}
}

// A port that another process uses is an error that says what to do.
func TestHTTPPortInUse(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, "--memory", "--name", "a", "--http", "127.0.0.1:0")
	at := strings.TrimPrefix(p.waitFor(`^HTTP on (http://\S+)$`), "http://")
	other := begin(t, nil, "serve", "--memory", "--name", "b", "--listen", "127.0.0.1:0", "--http", at)
	other.waitExit(2)
	other.waitFor("is in use.*--http")
}

// Probes have an address of their own, and profiles are served only if they are asked for.
func TestHealth(t *testing.T) {
	t.Parallel()
	status := func(url string) int {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode
	}
	p, _ := serve(t, "--memory", "--name", "a", "--http", "127.0.0.1:0", "--health", "127.0.0.1:0", "--pprof")
	q, _ := serve(t, "--memory", "--name", "b", "--http", "127.0.0.1:0")
	probes, api, plain := p.waitFor(`^probes on (http://\S+)$`), p.waitFor(`^HTTP on (http://\S+)$`), q.waitFor(`^HTTP on (http://\S+)$`)
	for url, want := range map[string]int{
		probes + "/readyz": 200, probes + "/healthz": 200, probes + "/metrics": 404, probes + "/debug/pprof/cmdline": 404,
		api + "/readyz": 200, api + "/debug/pprof/cmdline": 200, plain + "/debug/pprof/cmdline": 404,
	} {
		if got := status(url); got != want {
			t.Errorf("%s: %d, want %d", url, got, want)
		}
	}
	other := begin(t, nil, "serve", "--memory", "--name", "c", "--listen", "127.0.0.1:0", "--health", strings.TrimPrefix(probes, "http://"))
	other.waitExit(2)
	other.waitFor("is in use.*--health")
}
