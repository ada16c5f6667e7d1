package controls

// Source files of the member.
const (
	clientFile  = "internal/member/client.go"
	deliverFile = "internal/member/deliver.go"
	epochFile   = "internal/member/epoch.go"
	homeFile    = "internal/member/home.go"
	leaseFile   = "internal/member/lease.go"
	linkFile    = "internal/member/link.go"
	linksFile   = "internal/member/links.go"
	memberFile  = "internal/member/member.go"
	probeFile   = "internal/member/probe.go"
	useFile     = "internal/member/use.go"
	witnessFile = "internal/member/witness.go"
)

// memberControls breaks rules about requests and entries.
func memberControls() []Control {
	return []Control{
		{
			Name: "NoTouch", Section: "4", Text: "a first request need not reach the home",
			Rewrites: []Rewrite{{useFile, `if !fresh || home == e.me {`, `if !fresh || home == e.me || broken("NoTouch") {`}},
			Tests:    []Test{storm("quorums", 200), test(memberPackage, "TestTouch"), model("NoTouch")},
		},
		{
			Name: "Reborn", Section: "3", Text: "an idle instance returns to the state that it was born in",
			Rewrites: []Rewrite{{epochFile, `	e.uses[l.busy] = nil
	e.free = append(e.free, l.busy)`, `	if broken("Reborn") && !e.isHome(l) {
		e.table.setState(u.lock, e.schools[l.alg].born[e.seat(l)])
		e.unload(u.lock)
	}
	e.uses[l.busy] = nil
	e.free = append(e.free, l.busy)`}},
			Tests: []Test{storm("usual", 50), model("Reborn")},
		},
		{
			Name: "Unleased", Section: "4", Text: "a granted request enters without a lease",
			Rewrites: []Rewrite{{useFile, `	if !m.usable() {
		return
	}
	e := m.epoch
	w := u.first`, `	if !m.usable() && !(broken("Unleased") && !m.gone) {
		return
	}
	e := m.epoch
	w := u.first`}},
			Tests: []Test{storm("usual", 50), model("Unleased")},
		},
		{
			Name: "CountStays", Section: "4", Text: "the count of entries does not travel",
			Rewrites: []Rewrite{{deliverFile, `	l.count = max(l.count, f.count)`, `	if !broken("CountStays") {
		l.count = max(l.count, f.count)
	}`}},
			Tests: []Test{storm("usual", 50), model("CountStays"), replay("a packet of 22 bytes arrives from b:7420", "notifications to applications: 1 both times", "acquires its lock, with token")},
		},
		{
			Name: "HandoverSame", Section: "4", Text: "a local handover reuses the fencing token",
			Rewrites: []Rewrite{{useFile, `	t := Token{e.view.Epoch, l.count + 1}
`, `	t := Token{e.view.Epoch, l.count + 1}
	if u.handed > 0 && broken("HandoverSame") {
		t.Count = l.count
	}
`}},
			Tests: []Test{storm("usual", 50), model("HandoverSame")},
		},
		{
			Name: "UnlockAny", Section: "4", Text: "an unlock need not show the token of the hold",
			Rewrites: []Rewrite{{useFile, `!u.taken() || u.token != t {`, `!u.taken() || u.token != t && !broken("UnlockAny") {`}},
			Tests:    []Test{test(memberPackage, "TestLateUnlock"), model("UnlockAny")},
		},
		{
			Name: "NoBound", Section: "4", Text: "local waiters go first forever",
			Rewrites: []Rewrite{{useFile, `return u.handed < m.Settings.Handover }`, `return u.handed < m.Settings.Handover || broken("NoBound") }`}},
			Tests:    []Test{storm("crowd", 50)},
		},
		{
			Name: "CancelLeaks", Section: "9", Text: "a grant that no waiter wants is kept",
			Rewrites: []Rewrite{{useFile, `		u.asked, u.inside, u.handed = false, true, 0
`, `		u.asked, u.inside, u.handed = false, true, 0
		if u.first == nil && broken("CancelLeaks") {
			return nil
		}
`}},
			Tests: []Test{storm("usual", 100), model("CancelLeaks")},
		},
		{
			Name: "TriesStay", Section: "9", Text: "a refused try stays in the queue",
			Rewrites: []Rewrite{{probeFile, `	m.finish(w, kind, NoCause)
`, `	if broken("TriesStay") {
		m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: kind})
		return
	}
	m.finish(w, kind, NoCause)
`}},
			Tests: []Test{storm("usual", 50)},
		},
		{
			Name: "LeaverEnters", Section: "11", Text: "a leaver does not stop entering",
			Rewrites: []Rewrite{{memberFile, `	m.stop(Leaving)
`, `	if !broken("LeaverEnters") {
		m.stop(Leaving)
	}
`}},
			Tests: []Test{test(memberPackage, "TestLeaverEnters"), model("LeaverEnters")},
		},
	}
}

// leaseControls breaks rules about leases and sessions.
func leaseControls() []Control {
	return []Control{
		{
			Name: "KeepsLost", Section: "8", Text: "a hold does not end with the lease",
			Rewrites: []Rewrite{{memberFile, `if m.lease > 0 && !m.usable() {`, `if m.lease > 0 && !m.usable() && !broken("KeepsLost") {`}},
			Tests:    []Test{storm("usual", 100), model("KeepsLost")},
		},
		{
			Name: "PassAtOnce", Section: "8", Text: "a lost lock is passed on before the lease expires",
			Rewrites: []Rewrite{{memberFile, `	m.lapse = min(m.lapse, rests)
`, `	if broken("PassAtOnce") {
		rests, u.rests = m.now, m.now
	}
	m.lapse = min(m.lapse, rests)
`}},
			Tests: []Test{storm("usual", 200)},
		},
		{
			Name: "FromReceipt", Section: "8", Text: "the lease counts from the confirmation",
			Rewrites: []Rewrite{{leaseFile, `	from := m.renewals[i].at
`, `	from := m.renewals[i].at
	if broken("FromReceipt") {
		from = m.now
	}
`}},
			Tests: []Test{storm("usual", 400), replay("HELLO 1 arrives from the client on connection 1", "frames to clients: 1 both times", "sends WELCOME 1")},
		},
		{
			Name: "NoDrift", Section: "7", Text: "neither the home nor the service allows for drift", With: "NoMargin",
			Rewrites: []Rewrite{{epochFile, `	at := m.now + Instant(m.Settings.outwait(g.Rest))
`, `	rest := m.Settings.outwait(g.Rest)
	if broken("NoDrift") {
		rest = g.Rest
	}
	at := m.now + Instant(rest)
`}},
			Tests: []Test{storm("edge", 400)},
		},
		{
			Name: "NotNested", Section: "10", Text: "a client's session may outlast the member's lease",
			Rewrites: []Rewrite{{clientFile, `	return m.Settings.within(`, `	if broken("NotNested") {
		return length, nil
	}
	return m.Settings.within(`}},
			Tests: []Test{storm("clients", 400)},
		},
	}
}

// linkControls breaks rules about links.
func linkControls() []Control {
	return []Control{
		{
			Name: "LinkNoResend", Section: "5", Text: "nothing is sent again",
			Rewrites: []Rewrite{
				{linkFile, `if l.room = unbounded; l.sent > l.acked {`, `if l.room = unbounded; l.sent > l.acked && !broken("LinkNoResend") {`},
				{linkFile, `		l.room = 1
		l.rewind()
`, `		if l.room = 1; !broken("LinkNoResend") {
			l.rewind()
		}
`},
			},
			Tests: []Test{storm("usual", 200), test(memberPackage, "TestSessions")},
		},
		{
			Name: "LinkNoDedupe", Section: "5", Text: "a frame that comes twice is delivered twice",
			Rewrites: []Rewrite{{linkFile, `		if p.first+i != l.got+1 {
			continue // received before, or after a lost one
		}
		l.got++
`, `		if p.first+i != l.got+1 && !(broken("LinkNoDedupe") && p.first+i <= l.got) {
			continue
		}
		l.got = max(l.got, p.first+i)
`}},
			Tests: []Test{storm("usual", 50), test(memberPackage, "TestSessions")},
		},
		{
			Name: "LinkNewerConfirmed", Section: "5", Text: "frames of a newer epoch are confirmed and dropped",
			Rewrites: []Rewrite{
				{linksFile, `	p.link = NewLink(s.epoch, s.me, p.inc, s.limits.Bytes, s.limits.Patience)
`, `	p.link = NewLink(s.epoch, s.me, p.inc, s.limits.Bytes, s.limits.Patience)
	if broken("LinkNewerConfirmed") && p.early.epoch == s.epoch {
		p.link.got = p.early.got
	}
`},
				{linksFile, `	if len(e.packets)+binary.MaxVarintLen64+len(packet) <= s.limits.Early {
`, `	if broken("LinkNewerConfirmed") {
		e.got = k.last()
		return nil
	}
	if len(e.packets)+binary.MaxVarintLen64+len(packet) <= s.limits.Early {
`},
			},
			Tests: []Test{storm("usual", 50), test(memberPackage, "TestSessions")},
		},
		{
			Name: "LinkOlderAccepted", Section: "5", Text: "frames of an older epoch are delivered",
			Rewrites: []Rewrite{{linksFile, `		return nil // its epoch has ended here
`, `		if !broken("LinkOlderAccepted") || p == nil || p.link == nil {
			return nil
		}
		for range k.n {
			if err := f(p.inc, k.frame()); err != nil {
				return err
			}
		}
		return nil
`}},
			Tests: []Test{storm("usual", 50), test(memberPackage, "TestSessions")},
		},
	}
}
