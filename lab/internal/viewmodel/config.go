package viewmodel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A Config says what is explored.
type Config struct {
	Lock  string        // lock name: with the views, it determines each home
	Views []member.View // each begins from the one before; members may skip some
	Spec  func(algorithm string, version int) (algorithm.Spec, error)

	Asks     int      // requests of each process
	Quiet    []uint64 // incarnations that never ask
	Cancels  int      // cancellations, of all processes together
	Late     int      // repeated unlocks with a token that is no longer held, of all together
	Lapses   int      // leases of members that expire and are renewed later, of all together
	Crashes  bool     // evicted processes may crash, too
	Handover int      // local handovers in a row; 0 means the usual bound
	Later    bool     // a REPORT or QUERY may be made at any time after the step that calls for it
	Parts    bool     // a REPORT comes in three parts, of which only the second mentions the lock
	Client   Client

	// Only says which steps of a process in an epoch to explore; nil explores all. A
	// violation found among some of the steps is real, but then no process is reported to
	// wait forever.
	Only func(kind Kind, who member.Who, epoch uint64) bool
}

// The properties.
const (
	Mutual  explore.Broken = 1 << iota // no two processes are inside at once
	Tokens                             // tokens increase, and within an epoch by one
	Older                              // when a home releases, lends or enters, no process is inside by an older epoch or will be
	Leased                             // no process enters without a lease, and holds end with it
	Waits                              // every waiting process gets in
	Order                              // if the home had all reports when it began, no process enters before one that waited longer in older epochs
	Refused                            // no correct frame or unlock is rejected, nor a claim of what the client holds
	Fenced                             // no late unlock is accepted
	all     = iota
)

// Names returns the names of the properties, by their bits.
func Names(b explore.Broken) []string {
	names := [all]string{"mutual", "tokens", "older", "leased", "waits", "order", "refused", "fenced"}
	var some []string
	for i, name := range names {
		if b>>i&1 == 1 {
			some = append(some, name)
		}
	}
	return some
}

// A Model is what there is to explore.
type Model struct {
	Config
	procs []process
}

// A process is what never changes about a process.
type process struct {
	member.Who
	ghost bool // it is evicted at some time
	out   int  // first view that it leaves by: it must have promised before; 0 if there is none
}

// New makes a model.
func New(c Config) (*Model, error) {
	if len(c.Views) == 0 || len(c.Views) > 8 {
		return nil, fmt.Errorf("%d views: want 1 to 8", len(c.Views))
	}
	m := &Model{Config: c}
	for i := range c.Views {
		v := &c.Views[i]
		if err := v.Check(); err != nil {
			return nil, err
		}
		for _, who := range v.Members {
			if !slices.ContainsFunc(m.procs, func(p process) bool { return p.Inc == who.Inc }) {
				m.procs = append(m.procs, process{Who: who})
			}
		}
		if i > 0 {
			m.depart(i)
		}
	}
	if len(m.procs) > 8 || slices.IndexFunc(m.procs, func(p process) bool { return !p.ghost }) < 0 {
		return nil, errors.New("want 2 to 8 processes, one of which stays")
	}
	if through := c.Client.Through; through != 0 && c.Views[0].Rank(through) < 0 {
		return nil, fmt.Errorf("a client of incarnation %d: want a member of the first view", through)
	}
	if _, err := m.templates(); err != nil {
		return nil, err
	}
	return m, nil
}

// depart notes which processes are no longer in view i: those that are its ghosts were
// evicted, the others leave.
func (m *Model) depart(i int) {
	v := &m.Views[i]
	for _, who := range m.Views[i-1].Members {
		p := &m.procs[m.index(who.Inc)]
		if v.Rank(who.Inc) >= 0 {
			continue
		}
		if slices.ContainsFunc(v.Ghosts, func(g member.Ghost) bool { return g.Inc == who.Inc }) {
			p.ghost = true
		} else {
			p.out = i
		}
	}
}

// index returns the number of a process.
func (m *Model) index(inc uint64) int {
	return slices.IndexFunc(m.procs, func(p process) bool { return p.Inc == inc })
}

// view returns the number of the view of an epoch.
func (m *Model) view(epoch uint64) int {
	return slices.IndexFunc(m.Views, func(v member.View) bool { return v.Epoch == epoch })
}

// templates makes a template member for each process.
func (m *Model) templates() ([]*member.Template, error) {
	settings := member.Usual()
	if m.Handover > 0 {
		settings.Handover = m.Handover
	}
	var templates []*member.Template
	for _, p := range m.procs {
		d, err := member.NewTemplate(member.Config{Inc: p.Inc, Settings: settings, Spec: m.Spec}, m.Lock, m.Views)
		if err != nil {
			return nil, err
		}
		if m.Later {
			d.Later()
		}
		if m.Client.Through != 0 {
			d.Clients()
		}
		if m.Client.Block != 0 {
			d.Delegates()
		}
		templates = append(templates, d)
	}
	return templates, nil
}
