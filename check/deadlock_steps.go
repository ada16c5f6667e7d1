package check

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
)

// A sitesWorker explores the states of sites.
type sitesWorker struct {
	*sites
	machines []core.Machine
	other    []core.Machine  // for the lift test
	lifted   map[uint64]bool // the steps that were tried, by fingerprint
	twin     core.Twin
	out      core.Output
	from, to *scene
	spare    *scene
	broken   explore.Broken // by the step being made
	remote   bool           // the request being made went to another site
	said     string         // what the step is, for people
	buf      []byte
	known    map[string][]mention
	idles    map[string]bool
	all      []mention
	key      []byte
	err      error
}

// Worker implements explore.Model.
func (m *sites) Worker() explore.Worker {
	w := &sitesWorker{sites: m, from: &scene{}, to: &scene{}, spare: &scene{}, known: map[string][]mention{}, idles: map[string]bool{}, lifted: map[uint64]bool{}}
	for i := range core.ID(m.Layout.Sites) {
		w.machines = append(w.machines, m.birth(i, core.View{N: m.Layout.Sites}))
		w.other = append(w.other, m.birth(i, core.View{N: m.Layout.Sites}))
	}
	return w
}

// Init implements Worker. All clocks begin at 1: among times that are numbered
// anew, 0 is none.
func (w *sitesWorker) Init(emit func(state []byte) bool) error {
	n := w.Layout.Sites
	s := &scene{links: make([][][]byte, n*n)}
	for range w.Programs {
		s.clients = append(s.clients, client{left: uint8(max(1, w.Rounds))})
	}
	for i := range core.ID(n) {
		m := w.birth(i, core.View{N: n})
		if err := m.Step(core.Input{Kind: core.Hear, From: core.None, Time: 1}, &w.out); err != nil {
			return err
		}
		s.sites = append(s.sites, m.AppendState(nil))
	}
	emit(s.pack(nil))
	return nil
}

// The kinds of steps, as labels number them.
const (
	doAct = iota
	doArrive
	doTimer
	doCrash
	doBury
)

// Next implements Worker. Everything that can happen is fair but the begin of
// a transaction and a crash: nobody must.
func (w *sitesWorker) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	w.err = nil
	s := w.from
	s.unpack(state, len(w.Programs), w.Layout.Sites)
	moves := 0
	old := uint64(0)
	if w.Rounds == 0 {
		old = w.gather(s)
	}
	step := func(kind, arg int, fair bool, do func()) {
		w.to.copyFrom(s)
		w.broken = 0
		do()
		if w.err != nil {
			return
		}
		if fair {
			moves++
		}
		label := uint32(kind) | uint32(arg)<<3
		w.settle(old, func(state []byte) {
			emit(explore.Step{Label: label, Class: label, Fair: fair, Broken: w.broken}, state)
		})
	}
	for i := range s.clients {
		c := &s.clients[i]
		if !c.waits && (c.active || c.left > 0) && !w.gone(s, i) {
			step(doAct, i, c.active, func() { w.act(i) })
		}
	}
	for l := range s.links {
		if len(s.links[l]) > 0 {
			step(doArrive, l, true, func() { w.deliver(l) })
		}
	}
	for i := range s.timers {
		t := s.timers[i]
		step(doTimer, int(t[0])<<17|int(t[1]), true, func() { w.expire(i) })
	}
	w.deaths(s, step)
	broken := w.look(s)
	if moves == 0 && slices.ContainsFunc(s.clients, func(c client) bool { return c.waits }) {
		broken |= brokenStuck
	}
	return broken, w.err
}

// deaths lets one site die, if that may be, and the others be told.
func (w *sitesWorker) deaths(s *scene, step func(kind, arg int, fair bool, do func())) {
	if w.Crash && s.dead == 0 {
		for d := range w.Layout.Sites {
			step(doCrash, d, false, func() { w.crash(d) })
		}
	}
	for i := range s.buries {
		b := s.buries[i]
		step(doBury, int(b[0])<<4|int(b[1]), true, func() {
			w.to.buries = slices.Delete(w.to.buries, i, i+1)
			w.said = fmt.Sprintf("site %d is told that site %d is dead", b[0]+1, b[1]+1)
			w.step(core.ID(b[0]), core.Input{Kind: core.Suspect, From: core.ID(b[1])})
		})
	}
}

func (w *sitesWorker) crash(d int) {
	w.said = fmt.Sprintf("site %d dies", d+1)
	w.to.dead |= 1 << d
	n := w.Layout.Sites
	for s := range n {
		w.to.links[s*n+d] = nil
		if s != d {
			w.to.buries = append(w.to.buries, [2]uint8{uint8(s), uint8(d)})
		}
	}
	w.to.timers = slices.DeleteFunc(w.to.timers, func(t [2]uint32) bool { return int(t[0]) == d })
	for i := range w.to.clients {
		if w.gone(w.to, i) {
			w.to.clients[i] = client{}
		}
	}
}

// act lets a client ask for its next lock, or commit.
func (w *sitesWorker) act(i int) {
	c := &w.to.clients[i]
	home := w.Layout.Home[i]
	id := core.ID(i)
	if int(c.got) == len(w.Programs[i]) {
		w.said = fmt.Sprintf("%v commits", id)
		left := c.left
		if w.Rounds > 0 {
			left--
		}
		*c = client{left: left}
		w.step(home, core.Input{Kind: core.Release, From: id})
		return
	}
	k := w.Programs[i][c.got]
	if w.to.dead>>w.Layout.At[k]&1 == 1 && !w.Method.Claims {
		w.said = fmt.Sprintf("%v gives up: the site of %s is dead", id, deadlock.LockName(k))
		*c = client{}
		w.step(home, core.Input{Kind: core.Abort, From: id})
		return
	}
	w.said = fmt.Sprintf("%v asks for %s", id, deadlock.LockName(k))
	if !c.active && w.Method.Claims {
		for _, k := range w.Programs[i] {
			w.step(home, core.Input{Kind: core.Claim, From: id, Arg: k})
		}
	}
	c.active, c.waits, c.arrived = true, true, true
	w.remote = false
	w.step(home, core.Input{Kind: core.Request, From: id, Arg: k})
	if w.remote {
		c.arrived = false
	}
}

func (w *sitesWorker) deliver(l int) {
	n := w.Layout.Sites
	from, at := core.ID(l/n), core.ID(l%n)
	m := w.to.links[l][0]
	w.to.links[l] = w.to.links[l][1:]
	w.said = fmt.Sprintf("site %d gets %s of site %d", at+1, w.spec.Kinds[m[0]], from+1)
	if m[0] == w.request {
		if tx, attempt := w.about(at, m); tx >= 0 && w.to.clients[tx].waits && attempt == w.attempt(tx) {
			w.to.clients[tx].arrived = true
		}
	}
	w.step(at, core.Input{Kind: core.Receive, From: from, Bytes: m})
}

// about returns which transaction, in which attempt, a message is about.
func (w *sitesWorker) about(at core.ID, m []byte) (tx int, attempt uint64) {
	fields, err := core.DescribeMessage(w.machines[at], w.Layout.Sites, m)
	tx = -1
	if err != nil {
		return tx, 0
	}
	for _, f := range fields {
		switch {
		case f.Name == "tx" && tx < 0:
			n, _ := strconv.Atoi(f.Value)
			tx = n - 1
		case f.Name == "attempt" && attempt == 0:
			attempt, _ = strconv.ParseUint(f.Value, 10, 64)
		}
	}
	return tx, attempt
}

func (w *sitesWorker) expire(i int) {
	t := w.to.timers[i]
	w.to.timers = slices.Delete(w.to.timers, i, i+1)
	w.said = fmt.Sprintf("a timer of site %d runs out", t[0]+1)
	w.step(core.ID(t[0]), core.Input{Kind: core.Expire, Timer: int(t[1])})
}

// step gives a site an input and does what it wants done.
func (w *sitesWorker) step(at core.ID, in core.Input) {
	m := w.machines[at]
	if err := m.LoadState(w.to.sites[at]); err != nil {
		w.err = err
		return
	}
	isNew := w.isNew(at, in)
	if isNew {
		w.err = w.twin.Before(m, w.birth(at, core.View{N: w.Layout.Sites}))
	}
	if w.err == nil {
		w.err = m.Step(in, &w.out)
	}
	if w.err != nil {
		return
	}
	after := m.AppendState(nil)
	if isNew {
		if w.err = w.twin.After(at, in, m, &w.out); w.err == nil {
			w.err = w.lift(at, w.to.sites[at], in, after)
		}
		if w.err != nil {
			return
		}
	}
	w.to.sites[at] = after
	for i, s := range w.out.Sends {
		bytes := slices.Clone(w.out.Bytes(i))
		if s.Kind == w.request {
			w.remote = true
		}
		if slices.Contains(w.dooms, s.Kind) {
			if tx, attempt := w.about(at, bytes); attempt == w.attempt(tx) {
				w.to.clients[tx].doomed = true
			}
		}
		if w.to.dead>>s.To&1 == 0 {
			l := int(at)*w.Layout.Sites + int(s.To)
			w.to.links[l] = append(slices.Clip(w.to.links[l]), bytes)
		}
	}
	for _, n := range slices.Clone(w.out.Notices) {
		w.noticed(at, n)
	}
}

// attempt returns the number of a client's present attempt, or 0 if it has
// none.
func (w *sitesWorker) attempt(tx int) uint64 {
	if !w.to.clients[tx].active || w.gone(w.to, tx) {
		return 0
	}
	home := w.Layout.Home[tx]
	return w.field(home, core.ID(tx).String()+".attempt")
}

// field returns a number in the state of a site.
func (w *sitesWorker) field(at core.ID, name string) uint64 {
	m := w.birth(at, core.View{N: w.Layout.Sites})
	if err := m.LoadState(w.to.sites[at]); err != nil {
		w.err = err
		return 0
	}
	for _, f := range core.Describe(m, w.Layout.Sites) {
		if f.Name == name {
			n, _ := strconv.ParseUint(f.Value, 10, 64)
			return n
		}
	}
	return 0
}

func (w *sitesWorker) noticed(at core.ID, n core.Notice) {
	switch n.Kind {
	case core.SetTimer:
		t := [2]uint32{uint32(at), uint32(n.Timer)}
		if !slices.Contains(w.to.timers, t) {
			w.to.timers = append(w.to.timers, t)
			slices.SortFunc(w.to.timers, func(a, b [2]uint32) int { return int(a[0])<<20 + int(a[1]) - int(b[0])<<20 - int(b[1]) })
		}
	case core.Granted:
		c := &w.to.clients[n.Who]
		c.got++
		c.waits, c.arrived, c.spared = false, false, false
	case core.Victim:
		w.victim(int(n.Who), n.Cycle)
	case core.Denied:
		w.to.clients[n.Who] = client{left: w.to.clients[n.Who].left}
	}
}

// victim judges whom a detector has told to abort, and lets it.
func (w *sitesWorker) victim(i int, cycle []core.ID) {
	c := &w.to.clients[i]
	members := w.cycle(w.to, i)
	w.said += fmt.Sprintf("; %v aborts", core.ID(i))
	if len(cycle) > 0 {
		w.said += ": " + deadlock.Round(cycle)
		switch {
		case members == nil && !w.to.aborts && w.to.dead == 0:
			w.broken |= brokenFalse
		case members == nil && c.spared && w.to.dead == 0, members != nil && i != w.youngest(members):
			w.broken |= brokenVictim
		}
	}
	for _, other := range members {
		w.to.clients[other].spared = other != i
	}
	*c = client{left: c.left, active: true}
	w.to.aborts = true
	w.step(w.Layout.Home[i], core.Input{Kind: core.Abort, From: core.ID(i)})
}

// youngest returns the member that began last, by the stamps at their homes.
func (w *sitesWorker) youngest(members []int) int {
	best, last := -1, uint64(0)
	for _, i := range members {
		stamp := w.field(w.Layout.Home[i], core.ID(i).String()+".stamp")
		if best < 0 || stamp > last || stamp == last && i > best {
			best, last = i, stamp
		}
	}
	return best
}

// Waiting implements Waits: who has begun a transaction and not ended it.
func (w *sitesWorker) Waiting(state []byte) (waiting, calm uint32) {
	w.from.unpack(state, len(w.Programs), w.Layout.Sites)
	for i := range w.from.clients {
		if w.from.clients[i].active {
			waiting |= 1 << i
		}
	}
	return waiting, waiting
}
