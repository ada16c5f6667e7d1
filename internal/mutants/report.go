package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A result is the fate of a mutant, as a line of the results file.
type result struct {
	Key     string  `json:"key"`
	Outcome outcome `json:"outcome"`
	Stage   string  `json:"stage,omitempty"` // the stage that killed it
	Test    string  `json:"test,omitempty"`
	Seconds float64 `json:"seconds"`
}

func (r result) write(file *os.File) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = file.Write(append(b, '\n'))
	return err
}

// readResults reads the results file. The last result of a mutant counts.
func readResults(path string) (map[string]result, error) {
	all := map[string]result{}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			continue // a run was interrupted during a write
		}
		all[r.Key] = r
	}
	return all, err
}

// readEquivalent reads the list of equivalent mutants: paragraphs of a file and a function,
// the source line, the change, and the reason. Lines with # are comments.
func readEquivalent(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	var text strings.Builder
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "#") {
			text.WriteString(line)
		}
	}
	for p := range strings.SplitSeq(text.String(), "\n\n") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		lines := strings.SplitN(p, "\n", 4)
		if len(lines) < 4 {
			return nil, fmt.Errorf("%s: a paragraph has %d lines: want file and function, code, change, reason:\n%s", path, len(lines), p)
		}
		id := strings.Join(lines[:3], "\n")
		if all[id] != "" {
			return nil, fmt.Errorf("%s: listed twice:\n%s", path, id)
		}
		all[id] = strings.Join(strings.Fields(lines[3]), " ")
	}
	return all, nil
}

// stale returns an error if a listed mutant does not exist.
func stale(equivalent map[string]string, suites []*suite) error {
	exists := map[string]bool{}
	for _, s := range suites {
		for i := range s.mutants {
			exists[s.mutants[i].id()] = true
		}
	}
	var wrong []error
	for id := range equivalent {
		if !exists[id] {
			wrong = append(wrong, fmt.Errorf("equivalent.txt lists a mutant that does not exist: correct or remove it:\n%s", id))
		}
	}
	return errors.Join(wrong...)
}

const reportHead = `# Mutants

<!-- made by 'make mutants': do not edit -->

A mutant is the code with one small change: a statement dropped, a condition negated or weakened, a number off by one, operands or arguments exchanged, an assignment skipped, a result replaced. The tests should notice each of them. A mutant is killed if a test fails, or exceeds five times its usual processor time plus %v, or runs out of memory; it meets the tests of its own package first; then one of the live core meets some of the exhaustive model of view changes (internal/lab/viewmodel) and a short storm, and one of the checker those tests of package check that take at most %v. Mutants that no test reaches count as survivors. An equivalent mutant does the same as the original, apart from the time and memory that it takes, for a reason that is listed below.

The mutants that were run do not include equivalent ones. If fewer of the others were run than a package has, they are a random sample: its mutants are ordered by a hash of a seed, here %d, and of what they change, and the first ones are run. Edits of other lines hardly change the sample. The share that is killed is that of the mutants that were run, or a dash if none was. A result counts until the function is edited, also if tests are: a mutant that was killed is not run again. Tests were written for survivors of the sample, so the share is lower among mutants that were not run.

| package | mutants | run | killed by own tests | by the model | by the storm | by check | survived | not covered | equivalent | killed |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

// own explains what a page of results by own tests leaves out.
const own = `
Only the tests of each package itself were run: others would kill some of the survivors.
`

// report returns the page. Of mutants that have not run it gives only the number.
func report(suites []*suite, results map[string]result, equivalent map[string]string, o options) string {
	var b, survivors, same strings.Builder
	head, table, _ := strings.Cut(fmt.Sprintf(reportHead, usual().time, quickCheck, o.seed), "\n| package")
	if b.WriteString(head); o.quick {
		b.WriteString(own)
	}
	b.WriteString("\n| package" + table)
	for _, s := range suites {
		by, ran, counts, listed := map[string]int{}, 0, map[outcome]int{}, 0
		for i := range s.mutants {
			m := &s.mutants[i]
			r, ok := results[m.key()]
			if reason := equivalent[m.id()]; reason != "" {
				listed++
				fmt.Fprintf(&same, "- %s: %s.\n", m, strings.TrimSuffix(reason, "."))
				continue
			}
			if !ok {
				continue
			}
			ran++
			by[r.Stage]++
			if counts[r.Outcome]++; r.Outcome != killed {
				fmt.Fprintf(&survivors, "- %s (%s)\n", m, r.Outcome)
			}
		}
		share := "-"
		if ran > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(counts[killed])/float64(ran))
		}
		run := strconv.Itoa(ran)
		if ran > 0 && ran+listed < len(s.mutants) {
			run = "sample of " + run
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %d | %d | %d | %d | %d | %d | %s |\n", s.dir, len(s.mutants), run, by["own tests"], by["views"], by["storm"], by["check"], counts[survived], counts[unreached], listed, share)
	}
	for _, part := range []struct{ title, list string }{{"Survivors", survivors.String()}, {"Equivalent mutants", same.String()}} {
		lines := slices.Collect(strings.Lines(part.list))
		fmt.Fprintf(&b, "\n## %s\n\n%s", part.title, strings.Join(lines, ""))
		if len(lines) == 0 {
			b.WriteString("None.\n")
		}
	}
	return b.String()
}

// String returns where a mutant is and what it changes.
func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d, %s: %s: %s", m.File, m.Line, m.Function, quote(m.Code), quote(m.Change))
}

// quote formats a text as code, whatever quotes are in it.
func quote(s string) string {
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}
