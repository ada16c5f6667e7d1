package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An outcome is the fate of a mutant.
type outcome string

const (
	killed    outcome = "killed"
	survived  outcome = "survived"
	unreached outcome = "not covered" // by any test
)

// A unit is the smallest set of tests that runs alone.
type unit struct {
	stage   *stage
	binary  string
	pattern string
	time    time.Duration // of the processor, without a mutant
	reached []byte        // 1 for each mutant that it reaches
}

// limits of a run kill a mutant that loops or allocates forever.
type limits struct {
	time   time.Duration // of the processor, beyond five times that of the tests without a mutant
	memory int           // KiB of address space
}

func usual() limits { return limits{time: 5 * time.Second, memory: 6 << 20} }

// together is the total duration of the tests that run in one process.
const together = time.Second

// start runs tests with a mutant; "cover" and "" select none. It returns their output and
// the processor time that they took. The limit is of processor time, too, so that a busy
// machine kills no mutant; one that only waits gets four times as long.
func (s *suite) start(u *unit, pattern, mutant string, limit time.Duration, env ...string) ([]byte, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*limit)
	defer cancel()
	limited := fmt.Sprintf(`ulimit -v %d 2>/dev/null; ulimit -t %d; exec "$@"`, s.limits.memory, int(limit.Seconds())+1)
	c := exec.CommandContext(ctx, "sh", "-c", limited, "sh",
		u.binary, "-test.short", "-test.failfast", "-test.run", pattern)
	c.Dir = filepath.Join(s.root, u.stage.dir)
	c.Env = append(os.Environ(), "GOMAXPROCS=1", "STILE_MUTANT="+mutant)
	c.Env = append(c.Env, env...)
	var out bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &out, &out, time.Second
	err := c.Run()
	used := time.Duration(0)
	if c.ProcessState != nil {
		used = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	if ctx.Err() != nil || err != nil && used >= limit {
		err = errTime
	}
	return out.Bytes(), used, err
}

var errTime = errors.New("out of time")

// cover builds the tests of all stages and runs each alone, without a mutant. It returns
// them in the order in which they run against mutants, without those that take too long.
func (s *suite) cover(tmp string, stages []stage, progress func(string, ...any)) ([]unit, error) {
	var all []unit
	for i := range stages {
		g := &stages[i]
		progress("\r%s: building %s   ", s.name(), g.dir)
		binary, err := s.build(tmp, g.dir)
		if err != nil {
			return nil, err
		}
		patterns := g.run
		if patterns == nil {
			list, err := command(filepath.Join(s.root, g.dir), binary, "-test.list", "^(Test|Fuzz|Example)")
			if err != nil {
				return nil, err
			}
			for name := range strings.FieldsSeq(list) {
				patterns = append(patterns, "^"+name+"$")
			}
		}
		var units []unit
		for _, p := range patterns {
			progress("\r%s: measuring %s %.40s   ", s.name(), g.dir, p)
			u := unit{stage: g, binary: binary, pattern: p}
			if err := s.measure(&u, tmp); err != nil {
				return nil, err
			}
			if g.most == 0 || u.time <= g.most {
				units = append(units, u)
			}
		}
		slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(a.time, b.time) })
		all = append(all, units...)
	}
	return all, nil
}

// measure runs a unit without a mutant.
func (s *suite) measure(u *unit, tmp string) error {
	file := filepath.Join(tmp, "reached")
	if err := os.WriteFile(file, make([]byte, max(1, len(s.mutants))), 0o644); err != nil {
		return err
	}
	out, used, err := s.start(u, u.pattern, "cover", 10*time.Minute, "STILE_MUTANT_REACHED="+file)
	if err != nil {
		return fmt.Errorf("%s fails without a mutant: %w\n%s", u.pattern, err, out)
	}
	if bytes.Contains(out, []byte("no tests to run")) {
		return fmt.Errorf("no test of %s matches %s", u.stage.dir, u.pattern)
	}
	u.time = used
	u.reached, err = os.ReadFile(file)
	return err
}

var failed = regexp.MustCompile(`--- FAIL: (\S+)`)

// try runs a mutant against the tests that reach it until one fails.
func (s *suite) try(m *mutant, units []unit) (result, error) {
	r := result{Key: m.key(), Outcome: unreached}
	begun := time.Now()
	for rest := units; len(rest) > 0; {
		var batch []unit
		if batch, rest = next(rest, m.Number); len(batch) == 0 {
			break
		}
		var names []string
		limit := s.limits.time
		for _, u := range batch {
			names = append(names, u.pattern)
			limit += 5 * u.time
		}
		r.Outcome = survived
		out, _, err := s.start(&batch[0], strings.Join(names, "|"), fmt.Sprintf("%s:%d", s.name(), m.Number), limit)
		if err == nil {
			continue
		}
		var exit *exec.ExitError
		if err != errTime && !errors.As(err, &exit) {
			return r, err
		}
		r.Outcome, r.Stage, r.Test = killed, batch[0].stage.name, "no test in particular"
		if err == errTime {
			r.Test = "time"
		} else if f := failed.FindSubmatch(out); f != nil {
			r.Test = string(f[1])
		}
		break
	}
	r.Seconds = time.Since(begun).Seconds()
	return r, nil
}

// next returns the tests that run next, in one process, and those after them: fast ones of
// a stage together, slow ones alone.
func next(units []unit, number int) (batch, rest []unit) {
	sum := time.Duration(0)
	for i, u := range units {
		if u.reached[number] == 0 {
			continue
		}
		sum += u.time
		if len(batch) > 0 && (sum > together || u.stage != batch[0].stage || strings.Contains(u.pattern+batch[0].pattern, "/")) {
			return batch, units[i:]
		}
		batch = append(batch, u)
	}
	return batch, nil
}
