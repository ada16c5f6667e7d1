package sim

import (
	"bytes"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// A plain group is one of any family: everything about it is decided by its environment,
// which the checker uses too.
type plain struct {
	*group
	news    int64 // when a process last learned the leader
	onEnter func(seat algorithm.ID)
}

// plain adds a group of a family to the world.
func (w *world) plain(f *family.Family, spec algorithm.Spec, v algorithm.View) (*plain, error) {
	g, err := w.add(spec, v, nil)
	if err != nil {
		return nil, err
	}
	p := &plain{group: g}
	g.family, g.tagged, g.watch = f, f.Tags, p
	if g.env, err = f.Env(family.Options{Nodes: v.N}); err != nil {
		return nil, err
	}
	err = w.guard(func() error {
		g.env.Begin(g, v)
		return w.err
	})
	return p, err
}

func (p *plain) took(seat algorithm.ID, out *host.Output) {
	if out.Entered && p.onEnter != nil {
		p.onEnter(seat)
	}
	for _, n := range out.Notices {
		switch {
		case n.Kind == host.Leader && n.Who != algorithm.None:
			p.news = p.w.Now()
			p.note(trace.Lead, seat, n.Who, "")
		case n.Kind == host.Victim:
			p.note(trace.Abort, seat, n.Who, "")
		}
	}
	p.env.Look(p)
}

// Break implements family.Host for violations by a state, which are reported once.
func (p *plain) Break(property string, seat, other algorithm.ID) {
	if !slices.ContainsFunc(p.found, func(v Violation) bool { return v.Property == property }) {
		p.group.Break(property, seat, other)
	}
}

func (p *plain) crashed(algorithm.ID) {}

func (p *plain) returned(seat algorithm.ID) { p.announce(seat) }

// due reports whether something is still to come that in steps needs a line: that an
// application does what it eventually does, or that a process is notified which others
// are dead or back. Until then the outcome is not known.
func (p *plain) due() bool {
	due := false
	p.env.Acts(p, func(a family.Act) {
		due = due || a.Fair && (a.Kind != script.Ask || p.stirs(a.Proc, host.Input{Kind: host.Request, From: algorithm.None}))
	})
	for seat := range algorithm.ID(p.view.N) {
		for q := range algorithm.ID(p.view.N) {
			truth := host.Input{Kind: host.Trust, From: q}
			if p.Dead(q) {
				truth.Kind = host.Suspect
			}
			due = due || seat != q && !p.Dead(seat) && p.stirs(seat, truth)
		}
	}
	return due
}

// stirs reports whether an input would have any effect, if only a mistake.
func (g *group) stirs(seat algorithm.ID, in host.Input) (some bool) {
	defer func() { some = some || recover() != nil }()
	state := g.machines[seat].AppendState(nil)
	m := g.birth(seat, g.view)
	var out host.Output
	if m.LoadState(state) != nil || m.Step(in, &out) != nil {
		return true
	}
	return len(out.Sends)+len(out.Notices) > 0 || !bytes.Equal(state, m.AppendState(nil))
}
