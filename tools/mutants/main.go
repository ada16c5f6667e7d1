// Command mutants makes small changes to a package, one at a time, and runs its tests with
// each. It prints the changes that no test detects. Some of these make no difference to what
// the package does; the others are gaps in its tests.
//
// It changes no file: each mutant is an overlay of the build.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	root := flag.String("root", ".", "`DIR` of the repository")
	pkg := flag.String("package", "", "`DIR` of the package to mutate, relative to the repository, such as internal/session")
	tests := flag.String("tests", "", "`DIRS` of the packages whose tests run, with commas (default the package)")
	sample := flag.Int("sample", 100, "number of mutants to run; 0 means all")
	seed := flag.Uint64("seed", 1, "seed of the sample")
	workers := flag.Int("workers", 2, "number of mutants that run at the same time")
	flag.Parse()
	s := &suite{root: *root, workers: *workers}
	for _, dir := range strings.Split(*tests, ",") {
		if dir == "" {
			dir = *pkg
		}
		s.tests = append(s.tests, "./"+filepath.ToSlash(filepath.Clean(dir)))
	}
	if err := s.run(*pkg, *sample, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// A suite is the tests that run against mutants.
type suite struct {
	root    string
	tests   []string
	workers int
	limit   time.Duration // of the tests of a mutant
}

// An outcome is the fate of a mutant.
type outcome int

const (
	killed outcome = iota
	survived
	invalid // does not compile
)

// run runs a sample of the mutants of a package, and prints the survivors.
func (s *suite) run(pkg string, sample int, seed uint64) error {
	all, err := mutantsOf(filepath.Join(s.root, pkg))
	if err != nil {
		return err
	}
	if pkg == "" || len(all) == 0 {
		return fmt.Errorf("no mutants in package %q: give -package with the folder of a package", pkg)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if sample > 0 && sample < len(all) {
		all = all[:sample]
	}
	slices.SortFunc(all, func(a, b mutant) int { return cmp.Or(strings.Compare(a.file, b.file), a.from-b.from) })
	if err := s.calibrate(); err != nil {
		return err
	}
	outcomes, err := s.runAll(all)
	if err != nil {
		return err
	}
	counts := map[outcome]int{}
	for i, m := range all {
		counts[outcomes[i]]++
		if outcomes[i] == survived {
			fmt.Printf("%s:%d: %s\n", m.file, m.line, m.change())
		}
	}
	fmt.Printf("%s: %d mutants killed, %d survived, %d did not compile\n", pkg, counts[killed], counts[survived], counts[invalid])
	return nil
}

// calibrate runs the tests without a mutant. They must pass. A mutant may take five times as
// long, and a minute for its build.
func (s *suite) calibrate() error {
	s.limit = time.Hour
	began := time.Now()
	out, err := s.test("")
	if err != nil {
		return fmt.Errorf("the tests fail without a mutant: %w\n%s", err, out)
	}
	s.limit = 5*time.Since(began) + time.Minute
	return nil
}

// runAll runs mutants, several at a time.
func (s *suite) runAll(all []mutant) ([]outcome, error) {
	outcomes, errs := make([]outcome, len(all)), make([]error, len(all))
	turn := make(chan struct{}, s.workers)
	var wg sync.WaitGroup
	for i, m := range all {
		turn <- struct{}{}
		wg.Go(func() {
			outcomes[i], errs[i] = s.try(m)
			fmt.Fprintf(os.Stderr, "\r%d of %d  ", i+1, len(all))
			<-turn
		})
	}
	wg.Wait()
	fmt.Fprintln(os.Stderr)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// try runs the tests with a mutant.
func (s *suite) try(m mutant) (outcome, error) {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	file, err := filepath.Abs(m.file)
	if err != nil {
		return 0, err
	}
	mutated, overlay := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json")
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutated}})
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(mutated, m.source(), 0o600); err != nil {
		return 0, err
	}
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		return 0, err
	}
	out, err := s.test(overlay)
	switch {
	case err == nil:
		return survived, nil
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return invalid, nil
	}
	return killed, nil
}

// test runs the tests with an overlay, which may be empty.
func (s *suite) test(overlay string) ([]byte, error) {
	args := []string{"test", "-vet=off", "-short", "-failfast", "-count=1", "-timeout", s.limit.String()}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	c := exec.Command("go", append(args, s.tests...)...)
	c.Dir = s.root
	return c.CombinedOutput()
}
