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

// A usage is what the clients with one identity use. A nil pointer counts nothing: nothing is
// counted before there is a quota.
type usage struct {
	sessions int
	locks    int
	names    map[string]int // number of requests for each
}

// full reports whether a quota allows no other request for a lock.
func (u *usage) full(q *Quota, name string) bool {
	return q.Locks > 0 && u.locks >= q.Locks || q.Names > 0 && len(u.names) >= q.Names && u.names[name] == 0
}

// open counts sessions.
func (u *usage) open(n int) {
	if u != nil {
		u.sessions += n
	}
}

// add counts a request.
func (u *usage) add(name string) {
	if u != nil {
		u.locks++
		u.names[name]++
	}
}

// remove counts the end of a request.
func (u *usage) remove(name string) {
	if u == nil {
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

// used returns what an identity uses; nil if that is not counted.
func (d *Server) used(who string) *usage {
	if len(d.usages) == 0 {
		return nil
	}
	return d.usages[who]
}

// count returns what an identity uses, and goes on counting it from now on.
func (d *Server) count(who string) *usage {
	u := d.usages[who]
	if u != nil {
		return u
	}
	u = &usage{names: map[string]int{}}
	for _, s := range d.all {
		if s.Who != who {
			continue
		}
		u.sessions++
		for r := s.first; r != nil; r = r.next {
			if r.state != gone {
				u.add(r.name)
			}
		}
	}
	d.usages[who] = u
	return u
}

// uncount counts the end of a session. Its requests end later, and are not counted then.
func (d *Server) uncount(s *session) {
	s.over = true
	u := d.used(s.Who)
	if u == nil {
		return
	}
	u.open(-1)
	for r := s.first; r != nil; r = r.next {
		if r.state != gone {
			u.remove(r.name)
		}
	}
	if u.sessions == 0 {
		delete(d.usages, s.Who)
	}
}

// Knows reports whether a request of the session on a connection is waiting or held, so that
// a frame about it repeats what was sent before.
func (d *Server) Knows(conn, number uint64) bool {
	s := d.conns[conn]
	return s != nil && d.requests[key{s.Session, number}] != nil
}
