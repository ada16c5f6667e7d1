package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A target is a package that is mutated, and the tests that look for its mutants.
type target struct {
	dir    string
	stages []stage
}

// A stage is a set of tests of a package.
type stage struct {
	name, dir string
	run       []string      // patterns of -test.run; nil: every test
	most      time.Duration // tests that take more processor time are left out; 0: none is
}

// quickCheck is the processor time of the slowest tests of package check that look for
// mutants, so that a mutant takes seconds.
const quickCheck = 5 * time.Second

// targets are the packages of the pure live core and of the checker.
func targets() []target {
	views := stage{"views", "internal/lab/viewmodel", []string{
		"^TestViewChange$/^(central|naimi-trehel|raymond|token-ring-lazy),_(home|b)_evicted$",
		"^TestViewChange$/^(central|naimi-trehel),_nobody_evicted$",
		"^TestViewChange$/^naimi-trehel,_home_evicted,_(late_reports|reports_in_parts|a_home_joins)$",
		"^TestRules$",
	}, 0}
	storm := stage{"storm", "internal/storm", []string{"^TestCalm$", "^TestSeeds$", "^TestFaults$", "^TestTuned$"}, 0}
	checks := stage{"check", "check", nil, quickCheck}
	own := func(dir string) stage { return stage{"own tests", dir, nil, 0} }
	return []target{
		{"internal/member", []stage{own("internal/member"), views, storm}},
		{"internal/views", []stage{own("internal/views"), storm}},
		{"internal/session", []stage{own("internal/session"), storm}},
		{"internal/process", []stage{own("internal/process"), storm}},
		{"internal/lab/explore", []stage{own("internal/lab/explore"), checks}},
		{"internal/lab/model", []stage{own("internal/lab/model"), checks}},
	}
}

// options are the options of the command line.
type options struct {
	root     string
	results  string
	listed   string // file of equivalent mutants
	sample   int
	seed     int
	again    bool
	quick    bool
	list     bool
	workers  int
	progress func(format string, args ...any)
}

func main() {
	o := options{progress: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format, args...) }}
	flag.StringVar(&o.root, "root", ".", "folder of the repository")
	flag.StringVar(&o.results, "results", "bin/mutants.jsonl", "file that results are appended to")
	flag.StringVar(&o.listed, "equivalent", "internal/mutants/equivalent.txt", "file that lists equivalent mutants")
	flag.IntVar(&o.sample, "sample", 0, "number of mutants to run in each package (default all)")
	flag.IntVar(&o.seed, "seed", 1, "seed of the sample")
	flag.BoolVar(&o.again, "again", false, "run survivors and equivalent mutants again")
	flag.BoolVar(&o.quick, "quick", false, "run only the tests of the mutated package")
	flag.BoolVar(&o.list, "list", false, "print all mutants, as equivalent.txt names them, and stop")
	flag.IntVar(&o.workers, "workers", 2, "mutants that run at the same time")
	only := flag.String("package", "", "package to mutate, such as member (default all)")
	page := flag.String("page", "docs/results/mutants.md", "page to write")
	flag.Parse()
	if err := run(o, *only, *page); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(o options, only, page string) error {
	names, known := []string{}, false
	for _, t := range targets() {
		names = append(names, filepath.Base(t.dir))
		known = known || only == "" || filepath.Base(t.dir) == only
	}
	if !known {
		return fmt.Errorf("no package %q is mutated: choose one of %s", only, strings.Join(names, ", "))
	}
	equivalent, err := readEquivalent(o.listed)
	if err != nil {
		return err
	}
	var suites []*suite
	for _, t := range targets() {
		s, err := load(o.root, t.dir)
		if err != nil {
			return err
		}
		suites = append(suites, s)
	}
	if o.list {
		for _, s := range suites {
			for i := range s.mutants {
				fmt.Printf("# line %d\n%s\n\n", s.mutants[i].Line, s.mutants[i].id())
			}
		}
		return nil
	}
	if err := stale(equivalent, suites); err != nil {
		return err
	}
	results, err := readResults(o.results)
	if err != nil {
		return err
	}
	var wrong []error
	for i, t := range targets() {
		if o.quick {
			t.stages = t.stages[:1]
		}
		if only == "" || only == suites[i].name() {
			wrong = append(wrong, suites[i].examine(o, t.stages, equivalent, results))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	return os.WriteFile(page, []byte(report(suites, results, equivalent, o)), 0o644)
}

// key identifies the result of a mutant. It changes with the code of the function.
func (m *mutant) key() string {
	h := sha256.Sum256([]byte(m.id() + "\n" + m.body))
	return hex.EncodeToString(h[:8])
}

// chosen returns the mutants to run. The sample of a seed is nearly the same after an edit,
// because it consists of those whose hashes come first.
func (s *suite) chosen(o options, equivalent map[string]string, results map[string]result) []*mutant {
	var all []*mutant
	order := map[*mutant]string{}
	for i := range s.mutants {
		m := &s.mutants[i]
		h := sha256.Sum256(fmt.Appendf(nil, "%d %s", o.seed, m.id()))
		all, order[m] = append(all, m), string(h[:])
	}
	if o.sample > 0 {
		slices.SortFunc(all, func(a, b *mutant) int { return cmp.Compare(order[a], order[b]) })
		all = all[:min(o.sample, len(all))]
	}
	return slices.DeleteFunc(all, func(m *mutant) bool {
		old, ran := results[m.key()]
		_, same := equivalent[m.id()]
		return ran && old.Outcome == killed || !o.again && (ran || same)
	})
}

// examine runs the chosen mutants of a package, and adds to the results.
func (s *suite) examine(o options, stages []stage, equivalent map[string]string, results map[string]result) error {
	todo := s.chosen(o, equivalent, results)
	if len(todo) == 0 {
		return nil
	}
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	units, err := s.cover(tmp, stages, o.progress)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.results), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(o.results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		next   = make(chan *mutant)
		counts = map[outcome]int{}
		wrong  []error
		begun  = time.Now()
	)
	for range o.workers {
		wg.Go(func() {
			for m := range next {
				r, err := s.try(m, units)
				mu.Lock()
				counts[r.Outcome]++
				done := counts[killed] + counts[survived] + counts[unreached]
				if _, same := equivalent[m.id()]; same && r.Outcome == killed {
					err = errors.Join(err, fmt.Errorf("%s:%d: %s: listed as equivalent, but killed by %s: take it off the list", m.File, m.Line, m.Change, r.Test))
				}
				wrong = append(wrong, err, r.write(file))
				results[r.Key] = r
				if r.Outcome != killed {
					o.progress("\r%s:%d: %s %s\n", m.File, m.Line, m.Change, r.Outcome)
				}
				left := time.Since(begun) / time.Duration(done) * time.Duration(len(todo)-done)
				o.progress("\r%s: %d of %d, %d killed, %v left   ", s.name(), done, len(todo), counts[killed], left.Round(time.Second))
				mu.Unlock()
			}
		})
	}
	for _, m := range todo {
		next <- m
	}
	close(next)
	wg.Wait()
	o.progress("\n")
	return errors.Join(wrong...)
}
