// Package tla writes a lock as a TLA+ module, so that TLC can explore it: another checker,
// by other authors, in another language.
//
// The module has two parts. The first is tables of what each machine does in each of its
// states with each input: the state that follows, the messages that it sends, and whether
// its application enters. They are made by running the machines. The second part, which
// is text that never changes, is the network and the applications, written in TLA+. TLC
// explores the product of the two. It must find as many states, transitions and levels as
// package explore does, and reach the same verdicts.
//
// Nothing is renumbered, and messages that an author declares idempotent are not merged.
// So a lock with logical times or counters has finitely many states only if requests are
// bounded.
package tla

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/model"
)

// An Export is a lock that was explored, and can be written as a module.
type Export struct {
	Config      check.Config
	States      int64 // distinct states
	Transitions int64
	Depth       int    // levels of the breadth-first search
	Exclusion   int    // steps to the first violation of mutual exclusion, or -1
	Deadlock    int    // steps to the first deadlock, or -1
	Unfinished  string // why there is no table; empty if there is one

	table *model.Table
}

// Generated returns the number of states that TLC calls generated: the initial ones, and
// one for each transition.
func (e *Export) Generated() int64 { return e.Transitions + int64(len(e.table.Starts)) }

// Rows returns the number of rows of the tables.
func (e *Export) Rows() int { return len(e.table.Steps) }

// Explore explores a lock, without renumbering anything.
func Explore(c check.Config) (*Export, error) {
	if err := refuse(c); err != nil {
		return nil, fmt.Errorf("cannot export %s to TLA+: %w", c.Spec.Name, err)
	}
	env, err := c.Family.Env(family.Options{Nodes: c.Nodes, Requests: c.Requests, Asks: c.Requesters})
	if err != nil {
		return nil, err
	}
	names := []string{family.MutualExclusion, family.UnaskedEntry, family.Deadlock}
	t, found, err := model.Tabulate(model.Config{
		Spec: c.Spec, Seats: c.Nodes, Env: env, Waiters: requesters(c), Network: c.Network, Starts: c.Starts, Names: names,
	}, c.Limits)
	if err != nil {
		return nil, fmt.Errorf("cannot export %s to TLA+: %w", c.Spec.Name, err)
	}
	e := &Export{Config: c, States: found.States, Transitions: found.Transitions, Depth: found.Depth, Unfinished: found.Unfinished, table: t}
	bit := func(name string) explore.Broken { return 1 << slices.Index(names, name) }
	e.Exclusion = found.StepsTo(bit(family.MutualExclusion) | bit(family.UnaskedEntry))
	e.Deadlock = found.StepsTo(bit(family.Deadlock))
	return e, nil
}

// requesters returns the processes that make requests.
func requesters(c check.Config) []algorithm.ID {
	if c.Requesters != nil {
		return c.Requesters
	}
	var all []algorithm.ID
	for p := range algorithm.ID(c.Nodes) {
		all = append(all, p)
	}
	return all
}

// refuse returns why a check cannot be exported.
func refuse(c check.Config) error {
	switch {
	case c.Spec.Family != algorithm.MutualExclusion || c.Family.Sites > 0:
		return errors.New("only locks are exported")
	case c.Family.Detects:
		return errors.New("only locks in which no process crashes are exported, and it is one that tolerates crashes")
	case c.Network == algorithm.Duplicating:
		return errors.New("on a duplicating network its messages would accumulate, because none are merged: use another network")
	case c.Requests > 0:
		return nil
	}
	group, err := c.Spec.Group(algorithm.View{N: c.Nodes})
	if err != nil {
		return err
	}
	for _, m := range group {
		var n numbers
		if m.VisitTimes(&n); n {
			return errors.New("it has logical times or counters, which grow forever if requests are unbounded: give a number of requests")
		}
	}
	return nil
}

// numbers notes whether there are any logical times or counters.
type numbers bool

func (n *numbers) Time(*uint64)                 { *n = true }
func (n *numbers) Ticket(*uint64)               { *n = true }
func (n *numbers) Seq(algorithm.ID, *uint64)    { *n = true }
func (n *numbers) Anchor(algorithm.ID, *uint64) { *n = true }

var moduleName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// CheckName refuses the name of a module that TLA+ does not accept.
func CheckName(name string) error {
	if !moduleName.MatchString(name) {
		return fmt.Errorf("%q is not the name of a TLA+ module: use letters, digits and _, and begin with a letter", name)
	}
	return nil
}

//go:embed module.tmpl
var moduleText string

// Module returns the text of the module.
func (e *Export) Module(name string) (string, error) {
	c := e.Config
	page := page{
		Export: e, Name: name, Procs: c.Nodes, Requesters: set(requesters(c)), Requests: c.Requests,
		Sorted: c.Network == algorithm.Unordered, Lossy: c.Network == algorithm.Lossy,
	}
	if err := page.fill(e.table); err != nil {
		return "", err
	}
	t, err := template.New("module").Funcs(template.FuncMap{"last": func(i, n int) bool { return i == n-1 }}).Parse(moduleText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, page)
	return b.String(), err
}

// Cfg is the configuration file of every module.
const Cfg = `SPECIFICATION Spec
INVARIANTS MutualExclusion NoDeadlock
CHECK_DEADLOCK FALSE
`

// A page is what the template shows.
type page struct {
	*Export
	Name       string
	Procs      int
	Requesters string
	Requests   int
	Messages   []string
	Seats      []seat
	Starts     []start

	Sorted, Lossy bool // how the network is
}

type seat struct {
	ID     int
	States []state
}

type state struct {
	Text string
	Rows []string
}

type start struct{ Machine, Phase, Starting string }

// fill adds the tables to the page.
func (p *page) fill(t *model.Table) error {
	group, err := p.Config.Spec.Group(algorithm.View{N: p.Procs})
	if err != nil {
		return err
	}
	d := describer{p.Config.Spec.Kinds, group}
	for i, m := range t.Messages {
		text, err := d.message(m)
		if err != nil {
			return err
		}
		p.Messages = append(p.Messages, fmt.Sprintf("%d: %s", i+1, text))
	}
	rest := t.Steps
	for id := range t.States {
		one := seat{ID: id + 1}
		for i, b := range t.States[id] {
			text, err := d.state(id, b)
			if err != nil {
				return err
			}
			s := state{Text: fmt.Sprintf("%d: %s", i+1, text)}
			for len(rest) > 0 && int(rest[0].Seat) == id && rest[0].State == i {
				s.Rows = append(s.Rows, row(&rest[0]))
				rest = rest[1:]
			}
			one.States = append(one.States, s)
		}
		p.Seats = append(p.Seats, one)
	}
	for _, s := range t.Starts {
		p.Starts = append(p.Starts, initial(s))
	}
	return nil
}

// initial returns the values of the variables in an initial state.
func initial(s model.TableStart) start {
	var states, phases []string
	for p, number := range s.States {
		states = append(states, strconv.Itoa(number+1))
		phase := "idle"
		if slices.Contains(s.Inside, algorithm.ID(p)) {
			phase = "inside"
		}
		phases = append(phases, strconv.Quote(phase))
	}
	return start{Machine: tuple(states...), Phase: tuple(phases...), Starting: set(s.Starting)}
}

// row returns a row of the tables as a tuple: the sender and its message, or 0 and what
// the application does; the next state; what this means to the application; and what is
// sent to whom.
func row(s *model.TableStep) string {
	from, what, means := 0, 0, ""
	switch s.Kind {
	case host.Request:
		what = 1
	case host.Release:
		what = 2
	case host.Start:
		what = 3
	default:
		from, what = int(s.From)+1, s.Message+1
	}
	switch {
	case s.Entered:
		means = "enters"
	case s.Denied:
		means = "denied"
	}
	var sends []string
	for _, m := range s.Sends {
		sends = append(sends, fmt.Sprintf("<<%d, %d>>", m.To+1, m.Message+1))
	}
	return fmt.Sprintf("<<%d, %d, %d, %q, %s>>", from, what, s.Next+1, means, tuple(sends...))
}

func tuple(items ...string) string { return "<<" + strings.Join(items, ", ") + ">>" }

func set(ids []algorithm.ID) string {
	var items []string
	for _, p := range ids {
		items = append(items, strconv.Itoa(int(p)+1))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// A describer describes the bytes of states and messages, which are known to be readable.
type describer struct {
	kinds    []string
	machines []algorithm.Machine
}

func (d describer) state(seat int, b []byte) (string, error) {
	m := d.machines[seat]
	if err := m.LoadState(b); err != nil {
		return "", err
	}
	return text("", m.Describe()), nil
}

func (d describer) message(b []byte) (string, error) {
	fields, err := d.machines[0].DescribeMessage(b)
	if err != nil {
		return "", err
	}
	return text(d.kinds[b[0]]+" ", fields), nil
}

func text(kind string, fields []host.Field) string {
	var list []string
	for _, f := range fields {
		list = append(list, strings.TrimSpace(f.Name+" "+f.Value))
	}
	return words.ASCII(strings.TrimSpace(kind + strings.Join(list, ", ")))
}
