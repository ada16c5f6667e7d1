package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/tty"
	"github.com/stile-lock/stile/internal/words"
)

func newTop() *cobra.Command {
	l := &queryFlags{}
	c := &cobra.Command{
		Use:   "top [flags]",
		Short: "Show the busiest locks, the longest waits and the members",
		Long: `Asks all nodes of the cluster every second, until q or Ctrl-C. If the output is
not a terminal, or with --json, it measures for one second and prints once.

Busy are the locks that are acquired most often. Nodes count them approximately:
of many locks that are about equally busy, some may be missing. Nodes in a
program that embeds them do not count.`,
		Example: `  stile top
  stile top --json | jq .busiest`,
		Args: terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := l.target.resolve(c); err != nil {
				return err
			}
			if !l.json && tty.Is(int(os.Stdout.Fd())) {
				var before *topSample
				return (&watcher{what: "top", look: func(ctx context.Context) (terminal.Outcome, error) {
					now, err := l.target.sample(ctx)
					if err != nil {
						return terminal.Outcome{}, err
					}
					v := now.since(before)
					before = now
					return terminal.Outcome{Text: func(p *terminal.Printer) { v.print(p, tty.Rows(int(os.Stdout.Fd()))-2) }}, nil
				}}).run(c)
			}
			before, err := l.target.sample(c.Context())
			if err != nil {
				return err
			}
			select {
			case <-time.After(time.Second):
			case <-c.Context().Done():
				return c.Context().Err()
			}
			now, err := l.target.sample(c.Context())
			if err != nil {
				return err
			}
			v := now.since(before)
			return terminal.Outcome{JSON: v, Text: func(p *terminal.Printer) { v.print(p, 0) }}.Print(c.OutOrStdout(), l.json)
		},
	}
	l.define(c.Flags())
	return c
}

// topLocks is how many locks each node is asked for.
const topLocks = 50

// A topSample is what all nodes report at one time.
type topSample struct {
	at      time.Time
	members []node.MemberInfo
	status  []node.Status // by member
	errs    []error
	locks   *survey.Locks
}

// sample asks all nodes.
func (t *target) sample(ctx context.Context) (*topSample, error) {
	members, err := t.members(ctx)
	if err != nil {
		return nil, err
	}
	s := &topSample{at: time.Now(), members: members, status: make([]node.Status, len(members)), errs: make([]error, len(members))}
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() { s.errs[i] = t.ask(ctx, m.Address, node.AskStatus, nil, &s.status[i]) })
	}
	s.locks = survey.Take(ctx, members, node.LockQuery{Top: topLocks}, t.ask)
	wg.Wait()
	return s, nil
}

// A topView is what is shown.
type topView struct {
	Interval float64     `json:"interval_s"` // in which acquisitions were counted; 0 if they were not yet
	Members  []topMember `json:"members"`
	Busiest  []topBusy   `json:"busiest"` // by acquisitions
	Waits    []topWait   `json:"waits"`   // by the time that the first request has waited
}

// A topMember is a member.
type topMember struct {
	Name     string  `json:"name"`
	Address  string  `json:"address"`
	State    string  `json:"state"` // empty if the node did not answer
	Why      string  `json:"why,omitempty"`
	Leader   bool    `json:"leader"`
	Voter    bool    `json:"voter"`
	Acquired float64 `json:"acquired_per_s"`
	Held     int     `json:"held"`
	Waiting  int     `json:"waiting"`
	Clients  int     `json:"clients"`
	Left     float64 `json:"lease_left_s"`
}

// A topBusy is a lock that is acquired often.
type topBusy struct {
	Name     string  `json:"name"`
	Acquired float64 `json:"acquired_per_s"`
	Waiting  int     `json:"waiting"`
	Holder   string  `json:"holder"` // empty if no node reports one
	Value    string  `json:"value,omitempty"`
}

// A topWait is a lock that is waited for.
type topWait struct {
	Name    string  `json:"name"`
	Waited  float64 `json:"waited_s"` // by the request that has waited longest
	Waiting int     `json:"waiting"`
	Who     string  `json:"who"`
	Holder  string  `json:"holder"` // empty if no node reports one
	Why     string  `json:"why"`
	Value   string  `json:"value,omitempty"`
}

// since returns what to show: what has changed since an earlier sample, nil if there is
// none, and what is so now.
func (s *topSample) since(before *topSample) *topView {
	v := &topView{Members: []topMember{}, Busiest: []topBusy{}, Waits: []topWait{}}
	acquired, counted := map[string]uint64{}, map[string]uint64{}
	if before != nil {
		v.Interval = s.at.Sub(before.at).Seconds()
		for _, l := range before.locks.Locks {
			acquired[l.Name] = l.Acquired
		}
		for _, x := range before.status {
			counted[x.Node] = x.Acquired
		}
	}
	rate := func(now, then uint64) float64 {
		switch {
		case before == nil:
			return 0
		case now < then: // a node was restarted, or did not answer
			then = 0
		}
		return float64(now-then) / max(v.Interval, 0.001)
	}
	for i, m := range s.members {
		x := topMember{Name: m.Name, Address: m.Address, Voter: m.Voter}
		if st := &s.status[i]; s.errs[i] != nil {
			x.Why = s.errs[i].Error()
		} else {
			x.State, x.Why, x.Held, x.Waiting, x.Clients, x.Left = st.State, st.Why, st.Held, st.Waiting, st.Clients, st.Left
			x.Leader = st.Leader == st.Node
			if then, known := counted[st.Node]; known {
				x.Acquired = rate(st.Acquired, then)
			}
		}
		v.Members = append(v.Members, x)
	}
	for i := range s.locks.Locks {
		l := &s.locks.Locks[i]
		waiting, holder, value := len(l.Waiters)+l.Unlisted, "", ""
		if l.Holder != nil {
			holder, value = l.Holder.Who, l.Holder.Value
		}
		if r := rate(l.Acquired, acquired[l.Name]); r > 0 {
			v.Busiest = append(v.Busiest, topBusy{l.Name, r, waiting, holder, value})
		}
		if len(l.Waiters) > 0 {
			w := l.Waiters[0]
			v.Waits = append(v.Waits, topWait{l.Name, w.Waited, waiting, w.Who, holder, w.Why, value})
		}
	}
	slices.SortFunc(v.Busiest, func(a, b topBusy) int {
		return cmp.Or(cmp.Compare(b.Acquired, a.Acquired), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(v.Waits, func(a, b topWait) int { return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Name, b.Name)) })
	v.Busiest, v.Waits = v.Busiest[:min(len(v.Busiest), topLocks)], v.Waits[:min(len(v.Waits), topLocks)]
	return v
}

// print prints tables that fit into a number of lines; 0 for the default.
func (v *topView) print(p *terminal.Printer, lines int) {
	each := 10
	if lines > 0 {
		each = max((lines-len(v.Members)-6)/2, 3)
	}
	row := func(format string, args ...any) {
		p.Line("%s", terminal.Truncate(fmt.Sprintf(format, args...), terminal.ScreenWidth))
	}
	per := func(r float64) string {
		if v.Interval == 0 {
			return "-"
		}
		return thousands(r)
	}
	row("%-20s %-8s %10s %9s %8s %8s %7s", "MEMBER", "STATE", "ACQUIRED/S", "HELD", "WAITING", "CLIENTS", "LEASE")
	for _, m := range v.Members {
		name := words.Quoted(m.Name)
		if m.Leader {
			name += " (leader)"
		}
		if m.State == "" {
			row("%-20s %s", terminal.Truncate(name, 20), "no answer: "+m.Why)
			continue
		}
		row("%-20s %-8s %10s %9d %8d %8d %5.1f s", terminal.Truncate(name, 20), m.State, per(m.Acquired), m.Held, m.Waiting, m.Clients, m.Left)
	}
	p.Gap()
	row("%-34s %10s %8s  %s", "BUSIEST LOCKS", "ACQUIRED/S", "WAITING", "HOLDER")
	for _, l := range v.Busiest[:min(each, len(v.Busiest))] {
		row("%-34s %10s %8d  %s", terminal.Truncate(words.Quoted(l.Name), 34), per(l.Acquired), l.Waiting, cmp.Or(l.Holder, "-"))
	}
	p.Gap()
	row("%-34s %10s %8s  %s", "LONGEST WAITS", "WAITED", "WAITING", "HOLDER")
	for _, l := range v.Waits[:min(each, len(v.Waits))] {
		row("%-34s %10s %8d  %s", terminal.Truncate(words.Quoted(l.Name), 34), fmt.Sprintf("%.1f s", l.Waited), l.Waiting, cmp.Or(l.Holder, l.Why))
	}
}

// thousands formats a rate so that it can be read at a glance.
func thousands(r float64) string {
	if r < 10 {
		return strconv.FormatFloat(r, 'f', 1, 64)
	}
	s := strconv.FormatFloat(r, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
