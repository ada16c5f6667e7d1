package script

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// MaxProcesses bounds the group of a scenario, which people must be able to follow.
const MaxProcesses = 10_000

// A Scenario is a complete description of one run: the group, what happens to it, and the
// expected outcome.
type Scenario struct {
	File  string         // file it was read from, for errors; empty if none
	Said  map[string]int // line of each word of the head, for errors; empty if it was not read
	Title string

	Algorithm         string // its name in the catalog
	algorithm.Options        // options of the algorithm

	Processes int
	Holder    algorithm.ID // process that has the token at the start, if there is one
	Busy      bool         // whether the holder is inside at the start
	Network   algorithm.Network
	Seed      uint64

	Steps   bool   // whether the actions are done in order, and nothing happens by itself
	Latency Dist   // timed: latency of a message
	Links   []Link // timed: latencies of single links, where they differ
	Hold    Dist   // timed: length of a stay inside
	Manual  bool   // timed: whether a process leaves only when a line says so
	Until   int64  // timed: latest end of the run; 0 means when nothing more can happen

	Sections []Section // critical sections side by side; empty means one, of all processes

	Begin   []Beginning // state at the start of a run that is part of a longer one; empty: nothing has happened yet
	Set     []Setting
	Actions []Action
	Expect  []Expectation

	Deposits []Deposit // what processes add to a shared account; it changes nothing else
	Captions []Caption // text for the audience, in the order of the file; it changes nothing

	// Transactions over several locks, if there are sites: see Transacts.
	Sites   int
	Homes   []algorithm.ID // site of each process
	Locks   []algorithm.ID // site of each lock
	Units   []int          // units of each lock that is a semaphore; nil if there is none
	Mode    string         // mode of the method against deadlocks; empty means its usual one
	Backoff Dist           // how long an aborted transaction waits before it tries again
}

// A Link is the latency of messages from one process to another.
type Link struct {
	From, To algorithm.ID
	Latency  Dist
}

// A Setting gives one field of the state of one process its initial value, in the words
// of Machine.Describe.
type Setting struct {
	Proc    algorithm.ID
	Section string // section, if there are several
	Field   string
	Value   string
	Line    int // line in the file; 0 if there is none
}

// Check returns an error that says what makes s impossible to run or to write as a file.
func (s *Scenario) Check() error {
	if err := checkTitle(s.Title); err != nil {
		return err
	}
	if s.Algorithm == "" {
		return fmt.Errorf("no algorithm: add a line such as algorithm raymond")
	}
	if s.Processes < 1 || s.Processes > MaxProcesses {
		return fmt.Errorf("%d processes: want 1 to %d", s.Processes, MaxProcesses)
	}
	if s.Holder < 0 || int(s.Holder) >= s.Processes {
		return fmt.Errorf("holder %d: there are processes 1 to %d", s.Holder+1, s.Processes)
	}
	if err := s.checkTransacts(); err != nil {
		return err
	}
	if err := s.checkSections(); err != nil {
		return err
	}
	if err := s.checkDeposits(); err != nil {
		return err
	}
	if err := s.checkBegin(); err != nil {
		return err
	}
	for _, c := range s.Captions {
		if err := c.check(); err != nil {
			return err
		}
	}
	if s.Steps {
		return s.checkSteps()
	}
	if err := s.Latency.CheckLatency(); err != nil {
		return err
	}
	for _, l := range s.Links {
		if err := l.Latency.CheckLatency(); err != nil {
			return err
		}
	}
	for _, e := range s.Expect {
		if s.Until > 0 && e.When.Kind == AtTime && e.When.At > s.Until {
			return fmt.Errorf("an expectation is for %s, but the run ends at %s", FormatTime(e.When.At), FormatTime(s.Until))
		}
	}
	return nil
}

// checkTitle refuses a title that cannot be written as a line.
func checkTitle(title string) error {
	if strings.ContainsAny(title, "\n") || title != trim(stripComment(title)) {
		return fmt.Errorf("title %q: want one line, without # after a space", title)
	}
	return nil
}

// checkSteps refuses what only a timed schedule may have.
func (s *Scenario) checkSteps() error {
	zero := Dist{}
	if s.Latency != zero || s.Hold != zero || s.Backoff != zero || s.Manual || s.Until != 0 || len(s.Links) > 0 {
		return fmt.Errorf("latency, hold, backoff and until are times, but steps take no time: remove them, or the line schedule steps")
	}
	for _, a := range s.Actions {
		if a.At != 0 || a.Hold != nil || a.By != 0 {
			return fmt.Errorf("%q has a time, but steps take no time", a)
		}
	}
	for _, e := range s.Expect {
		if e.Kind == CommitsAt || e.Kind == AbortsAt {
			return fmt.Errorf("%q: steps have no times", e)
		}
	}
	return nil
}
