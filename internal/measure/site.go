package measure

import (
	"cmp"
	"fmt"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/peer"
)

func (s *site) address() string { return fmt.Sprint("p", int(s.id)+1) }

// start starts the process, with an empty disk.
func (s *site) start() {
	c := s.c
	config := peer.Config{
		Name: s.address(), Address: s.address(), Store: c.Disk(), Seed: uint64(c.chance.Below(1 << 62)),
		Spec: catalog.MakeLive, Host: s, Watch: s,
	}
	config.Tick, config.Links = peer.Fit(c.Settings)
	for _, o := range c.sites {
		if o != s {
			config.Contacts = append(config.Contacts, o.address())
		}
	}
	var err error
	nonce := uint64(s.id + 1)
	if s.peer, err = peer.New(c.now(), config); err == nil && s.id == 0 {
		usual := catalog.Live()[0]
		err = s.peer.Found(engine.Record{}, engine.Birth(
			engine.Start{Cluster: 1, Epoch: 1, Settings: c.Settings}, c.Voters,
			[]member.Choice{{Algorithm: usual.Name, Version: usual.Version}},
			engine.Joiner{Name: s.address(), Address: s.address(), Nonce: nonce}))
	}
	if err == nil {
		err = s.peer.Join(c.now(), nonce)
	}
	if err != nil {
		c.fail(err)
		return
	}
	s.settled()
}

// settled is called after each use of the peer: it schedules the next wake.
func (s *site) settled() {
	if s.peer.Err != nil {
		s.c.fail(s.peer.Err)
		return
	}
	due := s.peer.Due()
	if due == member.Never {
		return
	}
	t := max(int64(due), s.c.Now()+1)
	if s.wakeAt == 0 || t < s.wakeAt {
		s.wakeNo++
		s.wakeAt = t
		s.c.At(t, rouses, s.id, s.wakeNo)
	}
}

// Send implements peer.Host.
func (s *site) Send(to string, b []byte) {
	for _, o := range s.c.sites {
		if o.address() == to {
			s.c.Kernel.Send(s.id, o.id, s.c.Keep(b, 0, 0, 1))
			return
		}
	}
	s.c.fail(fmt.Errorf("%s sends something to %q, where nobody is", s.address(), to))
}

// Told implements peer.Host.
func (s *site) Told(e *member.Event) {
	c := s.c
	for i := range c.wants {
		w := &c.wants[i]
		if w.at != s || w.ticket != e.Ticket {
			continue
		}
		switch e.Kind {
		case member.Held:
			w.held, w.token = true, e.Token
			c.entry(w)
			if w.again {
				c.At(c.Now()+cmp.Or(int64(c.Hold), 10*T), releases, s.id, i)
			}
		case member.Lost:
			w.held = false
			s.lost++
		}
	}
}

// Linked implements peer.Host: nobody is told that a connection is broken.
func (s *site) Linked(string) bool { return true }

// Installed implements peer.Host.
func (s *site) Installed(r *engine.Record) {
	x := *r
	s.record = &x
}

// Ended implements peer.Host: it does not come back.
func (s *site) Ended(how engine.Ending) {
	if s.record = nil; !s.victim {
		s.c.fail(fmt.Errorf("%s is a member no more, and nothing was wrong with it", s.address()))
	}
}

// Sent implements peer.Watcher.
func (s *site) Sent(uint64, []byte) {}

// Delivering implements peer.Watcher.
func (s *site) Delivering(uint64, []byte) {}

// Delivered implements peer.Watcher.
func (s *site) Delivered(uint64, []byte) {}

// LinkEnded implements peer.Watcher.
func (s *site) LinkEnded(_ uint64, why error) { s.c.fail(why) }

// Renewing implements peer.Watcher.
func (s *site) Renewing(uint64) {
	if s.since == 0 {
		s.since = s.c.Now()
	}
}

// Confirming implements peer.Watcher.
func (s *site) Confirming(uint64) {
	if s.since != 0 {
		s.slow = max(s.slow, s.c.Now()-s.since)
		s.since = 0
	}
}

// Confirmed implements peer.Watcher.
func (s *site) Confirmed(uint64) {}

// Applied implements peer.Watcher.
func (s *site) Applied(uint64, *engine.Record) {}
