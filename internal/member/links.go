package member

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// Links are all links of one member, from epoch to epoch. The host that has the
// connections reports when they come and go, passes in the packets that arrive, and
// sends those that Next returns, after every call of another method and at the instant
// that Wake returns:
//
//	for to, p, ok := s.Next(now, buf[:0]); ok; to, p, ok = s.Next(now, buf[:0]) {
//		transmit(to, p)
//	}
//
// A frame arrives once, in order, in the epoch in which it was sent, or never if the
// epoch ends first. Packets of an older epoch are dropped. Packets of a newer one are
// kept, up to a bound, and not confirmed until it is installed.
type Links struct {
	me     uint64
	limits LinkLimits
	epoch  uint64
	newer  uint64
	now    Instant     // latest known time
	peers  []*linkPeer // by incarnation
	turn   int         // index of the peer whose packet is next
	ended  []LinkEnd   // not returned by Ended yet
}

// A LinkEnd is a link that has ended before its view.
type LinkEnd struct {
	Peer uint64 // incarnation
	Why  error
}

// LinkLimits bound what links keep and how long they wait. Zero values stand for the
// defaults.
type LinkLimits struct {
	Bytes    int  // bytes kept for a peer that has not confirmed them (default 256 MiB)
	Window   int  // bytes kept for a peer above which no bulk frames are sent, at most half of Bytes (default 1 MiB)
	Early    int  // bytes kept of a peer's packets of a newer epoch (default 1 MiB)
	Patience Span // time after which a peer is asked again; a confirmation may be delayed by a quarter of it (default 200 ms)
	Complain Span // time without a working exchange after which a peer is complained about (default 5 s)
}

func (l LinkLimits) usual() LinkLimits {
	bytes := cmp.Or(max(0, l.Bytes), 256<<20)
	return LinkLimits{
		Bytes: bytes, Window: min(cmp.Or(max(0, l.Window), 1<<20), max(1, bytes/2)), Early: cmp.Or(max(0, l.Early), 1<<20),
		Patience: cmp.Or(max(0, l.Patience), 200*Millisecond), Complain: cmp.Or(max(0, l.Complain), 5*Second),
	}
}

// maxStrangers is the maximum number of processes that are not members for which
// something is kept.
const maxStrangers = MaxMembers

// A linkPeer is an incarnation that is a member, or connected, or both, or has sent
// something of a newer epoch.
type linkPeer struct {
	inc   uint64
	up    bool
	link  *Link   // nil if it is not a member
	since Instant // since when it owes an answer, or there is no connection; Never if all is well
	sent  uint64  // frames for it, in all views
	early earlyPackets
}

// The earlyPackets of a peer are what arrived of an epoch that is not installed yet:
// packets with frames, in order, without a gap.
type earlyPackets struct {
	epoch   uint64
	got     uint64 // number of their frames
	ask     uint64 // the last question, to answer then
	packets []byte // each after its length
}

// NewLinks returns the links of an incarnation that has installed no view.
func NewLinks(me uint64, limits LinkLimits) *Links {
	return &Links{me: me, limits: limits.usual()}
}

// Install begins the links of a view. Those of the previous view end, with everything
// that they kept, in the same step. Call Early when what must be sent first has been
// sent.
func (s *Links) Install(now Instant, v View) error {
	if v.Epoch <= s.epoch {
		return fmt.Errorf("epoch %d cannot be installed after %d: the view is outdated", v.Epoch, s.epoch)
	}
	if !slices.ContainsFunc(v.Members, func(w Who) bool { return w.Inc == s.me }) {
		return fmt.Errorf("epoch %d: incarnation %d is not a member: %w", v.Epoch, s.me, ErrGone)
	}
	s.hear(now)
	s.epoch = v.Epoch
	if s.newer <= s.epoch {
		s.newer = 0
	}
	for _, p := range s.peers {
		if p.link != nil {
			p.link.end(errEnded)
		}
		p.link = nil
	}
	for _, w := range v.Members {
		if w.Inc != s.me {
			s.begin(s.add(w.Inc))
		}
	}
	for _, p := range s.peers {
		if p.link == nil {
			p.since = Never
		}
		if p.early.epoch < s.epoch || p.early.epoch == s.epoch && p.link == nil {
			p.early = earlyPackets{}
		}
	}
	s.prune()
	return nil
}

// begin makes the link of a member.
func (s *Links) begin(p *linkPeer) {
	p.link = NewLink(s.epoch, s.me, p.inc, s.limits.Bytes, s.limits.Patience)
	p.link.prompt = min(p.link.prompt, s.limits.Window/2)
	if p.up {
		p.link.Up()
	}
	p.watch(s.now, false)
}

// prune forgets peers that have neither link nor connection nor early packets.
func (s *Links) prune() {
	s.peers = slices.DeleteFunc(s.peers, func(p *linkPeer) bool {
		return p.link == nil && !p.up && p.early.epoch <= s.epoch
	})
}

// Up reports that there is a new connection with an incarnation, which need not be a
// member yet. If it replaces one, Down need not be called before.
func (s *Links) Up(now Instant, peer uint64) {
	s.hear(now)
	if peer == s.me || peer == 0 {
		return
	}
	p := s.add(peer)
	if p.up = true; p.link != nil {
		p.link.Up()
	}
	p.watch(s.now, false)
}

// Down reports that there is no longer a connection with an incarnation.
func (s *Links) Down(now Instant, peer uint64) {
	s.hear(now)
	p := s.find(peer)
	if p == nil {
		return
	}
	if p.up = false; p.link != nil {
		p.link.Down()
	}
	p.watch(s.now, false)
	s.prune()
}

// Send accepts a frame for another member of the current view. It copies the bytes. It
// drops a frame for any other incarnation, or for one whose link has ended. If the link
// is full it ends: see Ended.
func (s *Links) Send(to uint64, frame []byte) {
	p := s.find(to)
	if p == nil || p.link == nil || p.link.over != nil {
		return
	}
	if err := p.link.Send(frame); err != nil {
		s.ended = append(s.ended, LinkEnd{to, err})
		return
	}
	p.sent++
}

// Sent returns how many frames Send has accepted for an incarnation, in all views.
func (s *Links) Sent(to uint64) uint64 {
	if p := s.find(to); p != nil {
		return p.sent
	}
	return 0
}

// Room reports whether bulk frames may be sent to a member: little of what was sent to
// it is unconfirmed. It may become true whenever a packet is received.
func (s *Links) Room(to uint64) bool {
	p := s.find(to)
	return p != nil && p.link != nil && p.link.over == nil && p.link.unconfirmed() < s.limits.Window
}

// Ended returns the links that have ended since it was last called: they were full, or
// the member has refused a frame. Nothing is sent or received on them until the next
// view, and Complaints names their peers. Links that end because a new view is
// installed are not among them.
func (s *Links) Ended() []LinkEnd {
	ended := s.ended
	s.ended = nil
	return ended
}

// Receive handles a packet, and calls f with each new frame, in order. f must not keep
// the frame; it may call Send and Install. If f fails, the link ends: see Ended. An
// error wraps ErrPacket or ErrStranger: the host must close the connection, and the
// link stays as it was.
func (s *Links) Receive(now Instant, packet []byte, f func(from uint64, frame []byte) error) error {
	s.hear(now)
	var k linkPacket
	if err := k.parse(packet); err != nil {
		return err
	}
	if k.to != s.me || k.from == s.me {
		return fmt.Errorf("%w: it was sent by incarnation %d to %d, but this is %d", ErrStranger, k.from, k.to, s.me)
	}
	p := s.find(k.from)
	switch {
	case k.epoch < s.epoch:
		return nil // its epoch has ended here
	case k.epoch > s.epoch:
		return s.keep(p, &k, packet)
	case p == nil || p.link == nil:
		return fmt.Errorf("%w: incarnation %d, which sent it, is not another member of epoch %d", ErrStranger, k.from, k.epoch)
	}
	if s.handOut(p, f); s.epoch != k.epoch {
		return nil // f has installed a newer view
	}
	return s.take(p, &k, f)
}

// Early calls f with the frames of the current epoch that arrived before it was
// installed. The host calls it once after Install; otherwise the packets of each peer
// wait for its next one. If f fails, the link ends: see Ended.
func (s *Links) Early(now Instant, f func(from uint64, frame []byte) error) {
	s.hear(now)
	for i := 0; i < len(s.peers); i++ {
		s.handOut(s.peers[i], f)
	}
}

// Newer returns the highest epoch of any packet received, if it is above the current
// one: the host must fetch its view. Otherwise it returns 0.
func (s *Links) Newer() uint64 { return s.newer }

// Next appends the next packet that is due to b, and returns its receiver. Peers take
// turns, in the order of their incarnations.
func (s *Links) Next(now Instant, b []byte) (to uint64, packet []byte, ok bool) {
	s.hear(now)
	for range s.peers {
		if s.turn >= len(s.peers) {
			s.turn = 0
		}
		p := s.peers[s.turn]
		s.turn++
		if p.link != nil && p.link.Due(s.now) {
			b = p.link.Append(b, s.now)
			p.watch(s.now, false)
			return p.inc, b, true
		}
	}
	return 0, b, false
}

// Wake returns when to call Next, if nothing happens before: no later than now if Next
// has not reported yet that nothing is left.
func (s *Links) Wake() Instant {
	at := Never
	for _, p := range s.peers {
		if p.link == nil {
			continue
		}
		if p.link.pending() {
			return s.now
		}
		at = min(at, p.link.Wake())
	}
	return at
}

// Complaints returns the members with which no exchange has worked for long, in order:
// there was no connection, or nothing was confirmed or answered. Neither a connection
// that comes and goes nor a new view ends a complaint, only an answer does. A member
// with which nothing is in flight needs no traffic to be in good standing. Members
// whose link has ended are included at once.
//
// Complaints may be one-sided: where only one direction works, the end that gets no
// answers complains.
func (s *Links) Complaints(now Instant) []uint64 {
	s.hear(now)
	var all []uint64
	for _, p := range s.peers {
		if p.link != nil && (p.link.over != nil || addSpan(p.since, s.limits.Complain) <= s.now) {
			all = append(all, p.inc)
		}
	}
	return all
}

// hear keeps time from going back.
func (s *Links) hear(now Instant) { s.now = max(s.now, now) }

// place returns the index of an incarnation among the peers, or where it would be.
func (s *Links) place(inc uint64) (int, bool) {
	return slices.BinarySearchFunc(s.peers, inc, func(p *linkPeer, inc uint64) int { return cmp.Compare(p.inc, inc) })
}

func (s *Links) find(inc uint64) *linkPeer {
	if i, ok := s.place(inc); ok {
		return s.peers[i]
	}
	return nil
}

func (s *Links) add(inc uint64) *linkPeer {
	i, ok := s.place(inc)
	if !ok {
		s.peers = slices.Insert(s.peers, i, &linkPeer{inc: inc, since: Never})
	}
	return s.peers[i]
}

// take passes a packet of the current epoch to its link.
func (s *Links) take(p *linkPeer, k *linkPacket, f func(uint64, []byte) error) error {
	l := p.link
	var refused error
	worked, err := l.take(s.now, k, func(frame []byte) error {
		err := f(p.inc, frame)
		if l.over == nil {
			refused = err
		}
		return err
	})
	if p.link == l {
		p.watch(s.now, worked)
	}
	switch {
	case l.over == nil: // the packet is at fault, if there is an error
		return err
	case refused != nil:
		s.ended = append(s.ended, LinkEnd{p.inc, refused})
	}
	return nil
}

// watch notes whether the peer owes anything: nothing, or since now, or since longer if
// nothing has worked.
func (p *linkPeer) watch(now Instant, worked bool) {
	switch {
	case p.link == nil || p.up && !p.link.waits():
		p.since = Never
	case p.since == Never || worked && p.up:
		p.since = now
	}
}

// keep keeps a packet of a newer epoch. Only the newest epoch of each peer is kept: the
// peer has left the others.
func (s *Links) keep(p *linkPeer, k *linkPacket, packet []byte) error {
	if k.got > 0 || k.echo > 0 {
		return fmt.Errorf("%w: it confirms %d frames and answers question %d of epoch %d, which is not installed here", ErrPacket, k.got, k.echo, k.epoch)
	}
	s.newer = max(s.newer, k.epoch)
	if p == nil {
		if s.strangers() >= maxStrangers {
			return nil // it will arrive again
		}
		p = s.add(k.from)
	}
	p.watch(s.now, true) // the peer reaches this member, which must now fetch the view
	e := &p.early
	if k.epoch < e.epoch {
		return nil
	}
	if k.epoch > e.epoch {
		*e = earlyPackets{epoch: k.epoch, packets: e.packets[:0]}
	}
	e.ask = max(e.ask, k.ask)
	if k.first > e.got+1 || k.last() <= e.got {
		return nil
	}
	if len(e.packets)+binary.MaxVarintLen64+len(packet) <= s.limits.Early {
		w := writer(e.packets)
		w.blob(packet)
		e.packets, e.got = w, k.last()
	}
	return nil
}

// strangers counts the peers that are neither members nor connected.
func (s *Links) strangers() (n int) {
	for _, p := range s.peers {
		if p.link == nil && !p.up {
			n++
		}
	}
	return n
}

// handOut handles the packets of a peer that were kept, if their epoch is installed.
func (s *Links) handOut(p *linkPeer, f func(uint64, []byte) error) {
	l, e := p.link, p.early
	if l == nil || e.epoch != s.epoch {
		return
	}
	p.early = earlyPackets{}
	l.hear(s.now, e.ask)
	for kept := (scanner{b: e.packets}); len(kept.b) > 0 && p.link == l; {
		var k linkPacket
		err := k.parse(kept.blob())
		if err == nil {
			err = s.take(p, &k, f)
		}
		if err != nil { // keep would have refused it
			l.end(err)
			s.ended = append(s.ended, LinkEnd{p.inc, err})
			return
		}
	}
}
