package views

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A Leader is what a voter does with the messages of members. Its methods must be
// called one at a time, with readings of the voter's own clock. Its effects are in Out;
// take them after each call.
//
// It decides only while its voter leads. What it knows beyond the record belongs to the
// term, and is discarded with it: a new leader begins every lease at full length, because
// it cannot know when it began. A ghost it counts from when its voter applied the record:
// no process is renewed after its eviction was proposed.
type Leader struct {
	Out    LeaderOut
	self   uint64 // number of its voter
	record Record
	bytes  []byte          // encoded record
	draw   func() [32]byte // draws keys for tickets; nil for none
	keyed  member.Instant  // since when the newest key is known to this leader
	took   member.Instant  // when its voter applied the record; 0 if it had it from its disk
	now    member.Instant
	ticked member.Instant

	leads  bool
	began  member.Instant // when it began to lead
	spoke  []uint64       // voters heard from since then
	floor  uint64         // highest epoch that a process of the cluster has reported; kept from term to term
	term   uint64
	leader uint64 // the voter that leads, as far as is known
	former timed  // the voter that led before this one, as far as is known, and when it last spoke
	since  member.Instant

	standings []standing // of the members, by rank
	ghosts    []timed    // until when they may act
	joiners   []joiner
	flaps     []flap
	grudges   []grudge
	forget    bool
	fresh     uint64          // epoch after which a member wants another view as soon as possible; 0 if none does
	choices   []member.Choice // requested by the operator; nil if none
	wanted    int             // number of voters requested by the operator; 0 if none

	last     uint64         // member kept although it leaves, because all do; 0 if none
	leftAt   member.Instant // when a member that has left may last have waited to be notified
	flying   *Change        // proposed change in flight
	entry    []byte         // its bytes
	appended bool           // the log has them
	proposed member.Instant

	partings []Parting // why members have gone, or will go with the proposed change; the last ones first

	waiting []request // no read has begun for them yet
	asked   []request // a read has begun for them
	reads   uint64

	list    []uint64 // the log's own list of voters
	growing bool     // the log has learners, which will vote soon
	steady  bool     // the list is known, and is not being changed
	absent  []timed  // voters that run in no member's process, and since when
	revoted member.Instant
}

// LeaderOut holds the effects that a Leader wants. The host that takes them resets it.
type LeaderOut struct {
	Send     []Envelope
	Propose  []byte   // entry to propose now, possibly one that was proposed before
	Read     uint64   // if not 0: number of a read to begin now
	Revote   []uint64 // if not nil: voters that the log should have; repeated until it has them
	HandOver uint64   // if not 0: voter that should lead instead
}

// Reset empties it.
func (o *LeaderOut) Reset() { *o = LeaderOut{Send: o.Send[:0]} }

// A standing is what a leader knows of a member.
type standing struct {
	inc    uint64
	heard  member.Instant // last sign of life
	until  member.Instant // when its lease has expired, whatever its clock does
	number uint64         // number of its last renewal
	proven bool           // it has renewed with this leader
	leaves bool           // it has promised never to enter again
	stops  bool           // and will return: its voter stays
	ended  bool           // its process has ended, as the next one says
	asked  member.Instant // when it first reported that to this leader
	called member.Instant // when it was last asked whether it runs
	lived  member.Instant // when the call was sent that it has answered: it ran then, or later
	evict  bool           // to be evicted, whatever it does
}

// A timed is something with an instant.
type timed struct {
	id uint64
	at member.Instant
}

// NewLeader returns the Leader of a voter, with the record on the voter's disk.
func NewLeader(voter uint64, r Record) *Leader {
	return &Leader{self: voter, record: r, bytes: r.AppendTo(nil)}
}

// Record returns the record, as it was last applied.
func (w *Leader) Record() *Record { return &w.record }

// adopt notes the record that its voter has applied, and reports whether it is a new one.
func (w *Leader) adopt(r Record) bool {
	if r.Epoch == w.record.Epoch && r.Cluster == w.record.Cluster {
		return false
	}
	w.record, w.bytes, w.took = r, r.AppendTo(nil), w.now
	return true
}

func (w *Leader) hear(now member.Instant) { w.now = max(w.now, now) }

// patience is how long a lease is counted.
func (w *Leader) patience() member.Instant {
	return member.Instant(w.record.Settings.Patience())
}

// Follow reports that this voter does not lead, and which one does; 0 if that is
// unknown.
func (w *Leader) Follow(now member.Instant, leader uint64) {
	w.hear(now)
	if w.leads, w.leader = false, leader; leader != 0 && leader != w.self && leader != w.former.id {
		w.former = timed{leader, w.now}
	}
}

// Lead reports that this voter leads in a term, and has applied an entry of it: the
// record is up to date. Nothing is carried over from before but when it was applied.
func (w *Leader) Lead(now member.Instant, term uint64, r Record) {
	w.hear(now)
	if w.leads && w.term == term {
		return
	}
	w.adopt(r)
	former := w.former
	*w = Leader{Out: w.Out, self: w.self, record: w.record, bytes: w.bytes, draw: w.draw, keyed: w.now, took: w.took, now: w.now, list: w.list, growing: w.growing, steady: w.steady, reads: w.reads, floor: w.floor}
	w.leads, w.term, w.leader, w.began, w.since, w.ticked = true, term, w.self, w.now, w.now, w.now
	full := w.now + w.patience()
	for _, m := range r.Members {
		s := standing{inc: m.Inc, heard: w.now, until: full}
		if m.Voter != 0 && m.Voter == former.id {
			// It may be dead: it has been silent since it last led. If not, it has time to renew.
			s.heard = max(former.at, w.now-max(0, w.silence()-3*member.Instant(r.Settings.Renew)/2))
		}
		w.standings = append(w.standings, s)
	}
	for _, g := range r.Ghosts {
		until := full
		if w.took > 0 {
			until = min(full, w.took+member.Instant(g.Rest))
		}
		w.ghosts = append(w.ghosts, timed{g.Inc, until})
	}
	if len(w.list) > len(r.staying()) || slices.ContainsFunc(r.Formers, r.out) {
		w.leftAt = w.now
	}
	w.missing()
}

// until returns when an incarnation's lease has expired, as far as is known here.
func (w *Leader) until(inc uint64) member.Instant {
	if s := w.standing(inc); s != nil {
		return s.until
	}
	return 0
}

// standing returns what is known of a member, or nil.
func (w *Leader) standing(inc uint64) *standing {
	if i := slices.IndexFunc(w.standings, func(s standing) bool { return s.inc == inc }); i >= 0 {
		return &w.standings[i]
	}
	return nil
}

// Appended reports that the log has the change that was proposed last. It is applied if
// this voter goes on leading, however slow the disks are: proposed again it would only be
// one more entry to save.
func (w *Leader) Appended() { w.appended = true }

// Applied reports that entries of the log were applied, and the resulting record. It
// does not matter whether they were void: a change is in flight until its epoch is over.
func (w *Leader) Applied(now member.Instant, r Record) {
	w.hear(now)
	old := w.record
	if !w.adopt(r) || !w.leads {
		return
	}
	w.since = w.now
	w.rekeyed(&old)
	w.settle(&old)
	w.flying, w.entry = nil, nil
	w.joiners = slices.DeleteFunc(w.joiners, func(j joiner) bool { return r.bearer(j.Nonce) >= 0 })
	w.grudges = slices.DeleteFunc(w.grudges, func(g grudge) bool { return r.Rank(g.of) < 0 || r.Rank(g.about) < 0 })
	w.missing()
	for _, m := range r.Members {
		w.push(m.Address)
	}
}

// settle carries leases and ghosts over into a new view.
func (w *Leader) settle(old *Record) {
	was, ghosts := w.standings, w.ghosts
	w.standings, w.ghosts = nil, nil
	full := w.now + w.patience()
	for _, m := range w.record.Members {
		s := standing{inc: m.Inc, heard: w.now, until: full}
		if i := slices.IndexFunc(was, func(o standing) bool { return o.inc == m.Inc }); i >= 0 {
			s = was[i]
		}
		w.standings = append(w.standings, s)
	}
	for _, g := range w.record.Ghosts {
		t := timed{g.Inc, full}
		if i := slices.IndexFunc(ghosts, func(o timed) bool { return o.id == g.Inc }); i >= 0 {
			t = ghosts[i]
		} else if i := slices.IndexFunc(was, func(o standing) bool { return o.inc == g.Inc }); i >= 0 {
			t.at = was[i].until
		}
		w.ghosts = append(w.ghosts, t)
	}
	for _, m := range old.Members {
		if w.record.Rank(m.Inc) >= 0 {
			continue
		}
		w.leftAt = w.now
		if w.flying != nil && slices.Contains(w.flying.Drop, m.Inc) {
			w.flapped(m.Name)
		}
		if !w.listed(m.Voter) || !w.leaving(m.Voter) {
			w.send(m.Address, &Message{Kind: Gone, Cluster: w.record.Cluster, Inc: m.Inc, Nonce: m.Nonce})
		}
	}
}

// Tick makes the Leader do what is due. The host calls it regularly, about ten times
// for each renewal of a member.
func (w *Leader) Tick(now member.Instant) {
	w.hear(now)
	stood := w.now - w.ticked
	w.ticked = w.now
	if !w.leads || w.record.Cluster == 0 {
		return
	}
	if renew := member.Instant(w.record.Settings.Renew); stood > renew {
		for i := range w.standings { // it was suspended, and has not handled yet what arrived meanwhile
			w.standings[i].heard = w.now
		}
	}
	w.round()
	w.call(false)
	w.propose()
	w.reconcile()
	if id := w.heir(); id != 0 {
		w.Out.HandOver = id
	}
}

func (w *Leader) send(to string, m *Message) {
	w.Out.Send = append(w.Out.Send, Envelope{to, m.AppendTo(nil)})
}

// push sends the record to a member.
func (w *Leader) push(to string) {
	w.send(to, &Message{Kind: View, Cluster: w.record.Cluster, Record: w.bytes})
}

// open returns the encoded record for others than members.
func (w *Leader) open() []byte {
	r := w.record.Open()
	return r.AppendTo(nil)
}
