package page

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The programs that the journeys run: a command of the folder cmd, and its first arguments.
var (
	service    = []string{"stile"}
	laboratory = []string{"stile-lab"}
)

const root = "../.." // of the repository

// ends are called at the end of the test binary, last first.
var ends []func()

// TestMain runs at most two journeys at once, unless -parallel is given: each has a browser's
// window that paints.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "2"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	for _, end := range slices.Backward(ends) {
		end()
	}
	os.Exit(code)
}

// built builds the programs, and returns their folder.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stile-page")
	if err != nil {
		return "", err
	}
	ends = append(ends, func() { _ = os.RemoveAll(dir) })
	for _, name := range slices.Compact([]string{service[0], laboratory[0]}) {
		c := exec.Command("go", "build", "-o", filepath.Join(dir, name), "./cmd/"+name)
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

// program returns a program with further arguments.
func program(words []string, args ...string) (*exec.Cmd, error) {
	dir, err := built()
	if err != nil {
		return nil, err
	}
	return exec.Command(filepath.Join(dir, words[0]), slices.Concat(words[1:], args)...), nil
}

// serveLab starts a lab, and returns its address and what ends it.
func serveLab(args ...string) (url string, end func(), err error) {
	words := laboratory
	if i := slices.Index(args, "open"); i >= 0 { // a command of its own
		words, args = slices.Concat(laboratory, args[i:]), args[:i]
	}
	c, err := program(words, append(args, "--no-browser")...)
	if err != nil {
		return "", nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	end = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, at, ok := strings.Cut(lines.Text(), "http://"); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return "http://" + strings.TrimSuffix(at, "/"), end, nil
		}
	}
	end()
	return "", nil, fmt.Errorf("the lab printed no address")
}

// shared is the lab that most journeys use.
var shared = sync.OnceValues(func() (string, error) {
	url, end, err := serveLab("--listen", "127.0.0.1:0")
	if err == nil {
		ends = append(ends, end)
	}
	return url, err
})

// labURL returns the address of the lab that a journey walks through.
func labURL(t testing.TB) string {
	t.Helper()
	if r, ok := t.(*rehearsal); ok {
		return r.lab
	}
	url, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// ownLab starts a lab for one journey.
func ownLab(t testing.TB, args ...string) (url string, end func()) {
	t.Helper()
	url, end, err := serveLab(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return url, end
}

// example returns the text of a scenario of the repository.
func example(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "lab", "scenarios", name+".stile"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
