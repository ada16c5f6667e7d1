package storm

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/lab/trace"
)

// strike starts a fault, if it can.
func (w *world) strike(i int) {
	s := &w.Strikes[i]
	if w.goesBack() && !s.Kind.has(Client) {
		return
	}
	id := w.target(s)
	w.hit[i] = id
	if !w.begins(s, id) {
		return
	}
	w.result.Strikes++
	w.active[i] = true
	w.stirs(s)
	w.note(uint64(s.Kind), uint64(id))
	w.recount(s, id)
	if s.For > 0 {
		w.At(w.Now()+int64(s.For), cease, algorithm.None, i)
	}
}

// target returns the process that a strike hits. Some strikes are aimed at a process inside
// a lock: the next one from the place that was drawn.
func (w *world) target(s *Strike) algorithm.ID {
	id := w.aim(s)
	if w.Shelter && id == firstProc && s.Kind.has(Crash|Pause|Oneway|Partition|Slow|Leave|Roll|Stop|Evict|Lead|Broken|Wipe|Stall|Late|Jump|Gone|Rollback) {
		id += 1 + algorithm.ID(s.Peer%(len(w.procs)-1))
	}
	return id
}

// aim returns the process that a strike is meant for.
func (w *world) aim(s *Strike) algorithm.ID {
	aimed := s.How%2 == 0
	if s.Kind.has(Client) && len(w.clients) > 0 {
		for i := range w.clients {
			if c := w.clients[(s.Who+i)%len(w.clients)]; aimed && c.inside() {
				return c.id
			}
		}
		return w.clients[s.Who%len(w.clients)].id
	}
	if lead := w.leader(); lead != nil && s.Kind == Lead {
		return lead.id
	}
	if s.Kind.has(Broken|Wipe|Stall) || aimed && s.Kind == Rollback {
		for i := range w.procs {
			if q := w.procs[(s.Who+i)%len(w.procs)]; q.voter() != nil {
				return q.id
			}
		}
	}
	if s.Kind == Move {
		for i := range w.clients {
			if c := w.clients[(s.Who+i)%len(w.clients)]; c.up && (!aimed || c.inside()) {
				return c.node().id
			}
		}
	}
	if s.Kind == Return {
		for i := range w.procs {
			if q := w.procs[(s.Who+i)%len(w.procs)]; q.drive.relic != nil {
				return q.id
			}
		}
	}
	if aimed && s.Kind.has(Crash|Pause|Oneway|Partition|Evict|Break|Drift|Beyond|Late|Jump|Gone|Release) {
		for i := range w.procs {
			if q := w.procs[(s.Who+i)%len(w.procs)]; q.inside() {
				return q.id
			}
		}
	}
	return w.procs[s.Who%len(w.procs)].id
}

// release makes an operator take one of the locks held through a process.
func (w *world) release(q *proc, which int) bool {
	var held []*ask
	for _, x := range q.asks {
		if x.held {
			held = append(held, x)
		}
	}
	if q.state != taking || w.Paused(q.id) || len(held) == 0 {
		return false
	}
	x := held[which%len(held)]
	err := q.step(process.Input{Kind: process.Release, Text: w.names[x.lock], Token: x.token})
	if q.has(x) { // if it was lost in this step, that is the first notification
		w.broken(Events, "%s: an operator takes it from m%d, which is not notified: %v", w.names[x.lock], q.no, err)
	}
	return err == nil
}

// mayLeave reports whether a member may be made to leave. While voters cannot hear each
// other, or one has lost its disk, no process that votes, or may be about to, must leave.
func (w *world) mayLeave(q *proc) bool {
	return q.state == taking && !w.wounded() && !(q.votes() && w.severed)
}

// halt stops a member, or all of them.
func (w *world) halt(s *Strike, q *proc) bool {
	all := []*proc{q}
	if s.Kind == Stop && s.How%5 == 0 && !w.Shelter {
		all = w.procs
	}
	any := false
	for i, q := range all {
		if q.state != taking || q.draining || w.Paused(q.id) {
			continue
		}
		any, q.halts = true, true
		q.rest = ms + int64(s.For)
		q.w.At(w.Now()+int64(s.Peer*i)*ms, depart, q.id, q.boots)
	}
	return any
}

// linger lets all holders through a process stay inside for longer than its lease may last.
func (q *proc) linger() {
	lease := int64(q.w.Settings.Lease)
	for _, x := range q.asks {
		if x.held && x.app >= 0 && !x.errand.open() { // one that is at the bank continues as soon as it can
			q.later(x.app, lease+q.chance.Below(lease))
		}
	}
	for _, c := range q.w.clients {
		if c.up && c.node() == q {
			c.linger()
		}
	}
}

// inside reports whether the process is inside a lock.
func (q *proc) inside() bool {
	return slices.ContainsFunc(q.asks, func(x *ask) bool { return x.held })
}

// begins starts a fault, and reports whether it could.
func (w *world) begins(s *Strike, id algorithm.ID) bool {
	if s.Kind.has(Client) {
		return w.strikeClient(s, id)
	}
	q := w.procOf(id)
	switch s.Kind {
	case Crash:
		if q.state == dead {
			return false
		}
		q.rest = int64(s.For)
		q.die(s.How%4 == 1)
	case Pause, Jump:
		if q.state == dead || w.Paused(id) {
			return false
		}
		q.linger()
		w.Pause(id)
	case Loss:
		w.network.loss = int64(20 + 10*s.How)
	case Delay:
		w.network.late, w.network.lateBy, w.network.lateViews = int64(10+10*s.How), int64(s.For)/2+1, s.How%2 == 1
		if w.network.lateViews {
			w.network.late = 500
		}
	case Duplicate:
		w.network.twice = int64(50 + 20*s.How)
	case Break:
		w.reconnect(q, w.procs[s.Peer%len(w.procs)], false)
	case Oneway, Partition:
		return w.separate(s, q, true)
	case Sever:
		p := w.procs[s.Peer%len(w.procs)]
		if p == q || w.severed || !w.sound() {
			return false
		}
		w.severed = true
		w.network.part(q.id, p.id, true)
		w.network.part(p.id, q.id, true)
	case Slow:
		w.network.slow[id] = int64(1+s.How) * ms
	case Drift, Beyond:
		q.clock.tune(w.Now(), w.rate(&q.chance))
		if q.state != dead {
			q.wakeAt = 0
			q.rewake()
		}
	case Join:
		if q = w.procs[w.Nodes+s.Who%spare]; q.state != dead {
			return false
		}
		q.again()
	case Leave:
		if !w.mayLeave(q) || w.Paused(id) {
			return false
		}
		q.rest = ms + int64(s.For)
		q.departs()
	case Stop, Roll:
		return w.halt(s, q)
	case Gone:
		if !w.mayLeave(q) || w.Paused(id) {
			return false
		}
		q.rest = int64(w.Length) // longer than the faults last
		q.departs()
	case Late:
		q.late = true
	case Garble:
		w.network.garble[id] = int64(20 + 10*s.How)
	case Release:
		return w.release(q, s.Peer)
	case Move:
		return w.move(q, s.Peer)
	default:
		return w.strikeService(s, q)
	}
	return true
}

// strikeService makes the view service do something unexpected, or a voter fail.
func (w *world) strikeService(s *Strike, q *proc) bool {
	o := &w.orders
	switch s.Kind {
	case Evict:
		if q.state != taking {
			return false
		}
		o.evict = append(o.evict, q.inc)
	case Skip:
		o.hurry, o.surprise, o.epoch = 1+s.How%4, s.How/4%2 == 0, 0
		if s.Peer%2 == 0 {
			w.network.skipper = q.id
		}
	case Switch:
		o.next = w.choices(s.How, w.keptChoice(s.How/2+s.Peer))
	case Forget:
		o.forget = true
	case Lead:
		return w.strikeLeader(s, q)
	case Broken, Wipe:
		return w.strikeDisk(s, q)
	case Stall:
		if q.voter() == nil {
			return false
		}
		q.drive.stall(s, true)
	case Restore:
		return w.disaster(s)
	case Rollback:
		return w.rollBack(s, q)
	case Return:
		return w.putBack(s, q)
	}
	return true
}

// strikeLeader makes the leader crash, pauses it, or cuts it off.
func (w *world) strikeLeader(s *Strike, q *proc) bool {
	if q.voter() == nil || w.Paused(q.id) {
		return false
	}
	q.linger()
	switch s.How % 3 {
	case 0:
		q.rest = int64(s.For)
		q.die(s.How%2 == 1)
	case 1:
		w.Pause(q.id)
	case 2:
		w.around(q.id, true)
	}
	return true
}

// strikeDisk makes the disk of a voter fail, or destroys it.
func (w *world) strikeDisk(s *Strike, q *proc) bool {
	d := &q.drive
	if q.voter() == nil || d.ill {
		return false
	}
	how := s.How % 4
	if s.Kind == Wipe || how == 3 {
		if !w.expendable(q) {
			return false
		}
		w.lost = append(w.lost, d.voter())
		d.rotten = s.Kind == Broken
		q.rest = int64(s.For)
		q.die(true)
		if s.Kind == Wipe {
			d.lose()
			w.wiped = append(w.wiped, w.lost[len(w.lost)-1])
			return true
		}
		for range 1 + s.Peer%3 {
			d.disk.Rot(uint64(q.chance.Below(1 << 40)))
		}
		return true
	}
	d.ill = true
	n := s.Peer % 6
	switch how {
	case 0:
		d.disk.FullAfter(n)
	case 1:
		d.disk.SyncErrorAfter(n)
	case 2:
		d.disk.StopAfter(n)
	}
	return true
}

// strikeClient pauses a client, cuts it off, makes it crash, or breaks its connection.
func (w *world) strikeClient(s *Strike, id algorithm.ID) bool {
	if len(w.clients) == 0 {
		return false
	}
	c := w.clientAt(id)
	c.linger()
	switch s.How / 2 % clientFaults {
	case 0:
		if w.Paused(id) {
			return false
		}
		w.Pause(id)
	case 1:
		w.around(id, true)
	case 2:
		if !c.up || w.Paused(id) {
			return false
		}
		c.crash()
	case 3:
		if !c.up || w.Paused(id) {
			return false
		}
		c.snap()
	}
	return true
}

// clientFaults is the number of kinds of faults for a client.
const clientFaults = 4

// around cuts a process off from all others, or ends that.
func (w *world) around(id algorithm.ID, on bool) {
	for o := range algorithm.ID(w.Processes()) {
		if o != id {
			w.network.part(id, o, on)
			w.network.part(o, id, on)
		}
	}
}

// separate keeps processes from hearing each other, or ends that.
func (w *world) separate(s *Strike, q *proc, on bool) bool {
	p := w.procs[s.Peer%len(w.procs)]
	if on && s.How%2 == 0 {
		q.linger()
	}
	if s.Kind == Oneway {
		switch {
		case s.How/2%4 == 0:
			w.network.silence(w.network.mute, q.id, on)
		case s.How/2%4 == 1:
			w.network.silence(w.network.deaf, q.id, on)
		case p == q:
			return false
		default:
			w.network.part(q.id, p.id, on)
		}
		return true
	}
	switch s.How / 2 % cutKinds {
	case cutPair:
		if p == q {
			return false
		}
		w.network.part(q.id, p.id, on)
		w.network.part(p.id, q.id, on)
	case cutService:
		w.network.silence(w.network.mute, q.id, on)
		w.network.silence(w.network.deaf, q.id, on)
	case cutMembers:
		for _, o := range w.procs {
			if o != q {
				w.network.part(q.id, o.id, on)
				w.network.part(o.id, q.id, on)
			}
		}
	case cutSplit:
		for _, a := range w.procs {
			for _, b := range w.procs {
				if (a.place() <= q.place()) != (b.place() <= q.place()) {
					w.network.part(a.id, b.id, on)
				}
			}
		}
	case cutOff:
		w.around(q.id, on)
	}
	return true
}

// reconnect breaks the connections of a process, to one other process or, if that is
// itself, to all; or resumes them.
func (w *world) reconnect(q, p *proc, up bool) {
	for _, o := range w.procs {
		if o == q || p != q && p != o {
			continue
		}
		w.network.snap(q.id, o.id, up)
		q.hears(o, up)
		o.hears(q, up)
	}
}

// hears notifies a process that its connection to another is down, or up again, as soon as
// it runs.
func (q *proc) hears(o *proc, up bool) {
	arg := o.place() << 1
	if up {
		arg |= 1
	}
	q.w.At(q.w.Now(), link, q.id, arg)
}

// cease ends a fault.
func (w *world) cease(i int) {
	if !w.active[i] {
		return
	}
	w.active[i] = false
	s, id := &w.Strikes[i], w.hit[i]
	w.stirs(s)
	if s.Kind.has(Client) {
		w.ceaseClient(s, id)
		return
	}
	q := w.procOf(id)
	switch s.Kind {
	case Pause:
		w.resume(id)
	case Jump:
		if w.Paused(id) {
			w.resume(id)
			q.jumps(s.Peer%2 == 0)
		}
	case Gone:
		if dies := s.How/2%2 == 0; dies && q.state != dead && (q.draining || q.state == leaving) {
			q.die(s.Peer%2 == 0)
		}
	case Stop:
		if dies := s.How%3 == 0; dies && q.state != dead && (q.draining || q.state == leaving) {
			q.die(s.Peer%2 == 0)
		}
	case Return:
		if q.isRelic() && q.drive.aside.voter() != 0 { // the cluster may need its voter
			q.die(false)
		}
	case Late:
		q.late = false
	case Garble:
		w.network.garble[id] = 0
	case Stall:
		q.drive.stall(s, false)
	case Loss:
		w.network.loss = 0
	case Delay:
		w.network.late = 0
	case Duplicate:
		w.network.twice = 0
	case Break:
		w.reconnect(q, w.procs[s.Peer%len(w.procs)], true)
	case Oneway, Partition:
		w.separate(s, q, false)
	case Slow:
		w.network.slow[id] = 0
	case Lead:
		switch s.How % 3 {
		case 1:
			w.resume(id)
		case 2:
			w.around(id, false)
		}
	case Join:
		if q := w.procs[w.Nodes+s.Who%spare]; w.mayLeave(q) {
			q.departs()
		}
	}
}

func (w *world) ceaseClient(s *Strike, id algorithm.ID) {
	switch s.How / 2 % clientFaults {
	case 0:
		w.resume(id)
	case 1:
		w.around(id, false)
	case 2:
		w.clientAt(id).begin()
	}
}

// jumps makes a resumed process get its timer before or after everything that has arrived
// meanwhile.
func (q *proc) jumps(first bool) {
	q.wakeNo++ // what was scheduled is void
	if first {
		q.wakes()
		return
	}
	q.wakeAt = q.w.Now()
	q.w.At(q.wakeAt, wake, q.id, q.wakeNo)
}

// resume resumes a process. If its lease has expired meanwhile, it must be notified before
// it does anything else.
func (w *world) resume(id algorithm.ID) {
	if !w.Paused(id) {
		return
	}
	w.Resume(id)
	w.resumed[id] = w.Now()
	if !w.isClient(id) {
		w.At(w.Now()+1, check, algorithm.None, int(id-firstProc))
	}
}

// heal ends all faults. Processes that had to leave or stay away return soon, and holders
// release soon.
func (w *world) heal() {
	for i := range w.Strikes {
		if w.active[i] && w.Strikes[i].Kind != Sever {
			w.cease(i)
		}
	}
	w.severed = false
	w.network.heal()
	for i := range w.Strikes {
		if s := &w.Strikes[i]; w.active[i] && s.Kind == Sever {
			w.begins(s, w.hit[i])
		}
	}
	w.orders.hurry = 0
	for _, q := range w.procs {
		q.drive.next, q.drive.goes = nil, false
		if d := &q.drive; d.ill && q.state != dead {
			d.disk.Heal()
			d.ill = false
		}
		if q.state == dead && (q.place() < w.Nodes || q.votes()) {
			w.At(w.Now()+1+q.chance.Below(maxRest), boot, algorithm.None, q.place())
		}
	}
	for _, q := range w.procs {
		for _, x := range q.asks {
			if x.held && x.app >= 0 {
				q.later(x.app, q.chance.Below(longestHold))
			}
		}
	}
	for _, c := range w.clients {
		for i := range c.hands {
			if h := &c.hands[i]; h.next > 0 {
				h.next = min(h.next, w.Now()+longestHold)
			}
		}
		if c.deal.at > 0 {
			c.deal.at = min(c.deal.at, w.Now()+longestHold)
		}
		if c.up {
			c.rewake()
		}
	}
	w.Note(trace.Event{Kind: trace.Heal, Proc: algorithm.None, Peer: algorithm.None})
}
