package session

// A Quota bounds what all clients with one identity may use of a node together. 0 stands for
// no bound.
type Quota struct {
	Sessions int
	Locks    int // requests that hold a lock or wait for one
	Names    int // different locks that these are for
}

// MaxQuota is the maximum of each bound.
const MaxQuota = 1_000_000_000

// A caller is the client on a connection, as the host identifies it.
type caller struct {
	who   string
	quota Quota
}

// A usage is what the clients with one identity use. What they lock is counted from when a
// quota asks for it.
type usage struct {
	first    *session // its sessions
	sessions int
	locks    int
	names    map[string]int // number of requests for each; nil if locks are not counted
}

// full reports whether a quota allows no other request for a lock.
func (u *usage) full(q *Quota, name string) bool {
	return q.Locks > 0 && u.locks >= q.Locks || q.Names > 0 && len(u.names) >= q.Names && u.names[name] == 0
}

// add counts a request.
func (u *usage) add(name string) {
	if u.names != nil {
		u.locks++
		u.names[name]++
	}
}

// remove counts the end of a request.
func (u *usage) remove(name string) {
	if u.names == nil {
		return
	}
	u.locks--
	if u.names[name]--; u.names[name] == 0 {
		delete(u.names, name)
	}
}

// Opened reports the identity of the client on a connection to the Server, and the quota of
// that identity. The identity of a connection does not change, but its quota may, and is then
// reported again. A client without an identity and a quota need not be reported.
func (d *Server) Opened(conn uint64, who string, q Quota) {
	d.callers[conn] = caller{who, q}
	if s := d.conns[conn]; s != nil {
		s.quota = q
	}
}

// Recall recalls all delegated locks, because what clients may do is no longer the same: the
// host has to be asked for the next entry. Of a request that is granted later, the lock is
// recalled with the grant.
func (d *Server) Recall() {
	for _, s := range d.all {
		for r := s.first; r != nil; r = r.next {
			if r.recalled = true; r.state == held && r.block != 0 {
				d.recall(r)
			}
		}
	}
}

// sessionsOf returns the number of an identity's sessions.
func (d *Server) sessionsOf(who string) int {
	if u := d.usages[who]; u != nil {
		return u.sessions
	}
	return 0
}

// enlist counts a new session.
func (d *Server) enlist(s *session) {
	u := d.usages[s.Who]
	if u == nil {
		u = &usage{}
		d.usages[s.Who] = u
	}
	if u.first != nil {
		u.first.prev = s
	}
	s.usage, s.next, u.first = u, u.first, s
	u.sessions++
}

// count returns what an identity with sessions uses, and goes on counting what it locks from now
// on.
func (d *Server) count(who string) *usage {
	u := d.usages[who]
	if u.names != nil {
		return u
	}
	u.names = map[string]int{}
	for o := u.first; o != nil; o = o.next {
		for r := o.first; r != nil; r = r.next {
			if r.state != gone {
				u.add(r.name)
			}
		}
	}
	return u
}

// uncount counts the end of a session. Its requests end later, and are not counted then.
func (d *Server) uncount(s *session) {
	s.over = true
	u := s.usage
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		u.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
	if u.sessions--; u.sessions == 0 {
		delete(d.usages, s.Who)
		return
	}
	for r := s.first; r != nil; r = r.next {
		if r.state != gone {
			u.remove(r.name)
		}
	}
}

// Knows reports whether a request of the session on a connection is waiting or held, so that
// a frame about it repeats what was sent before.
func (d *Server) Knows(conn, number uint64) bool {
	s := d.conns[conn]
	return s != nil && d.requests[key{s.Session, number}] != nil
}
