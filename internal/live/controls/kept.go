package controls

// Source files of kept locks.
const (
	keptFile   = "internal/live/member/kept.go"
	bookFile   = "internal/live/member/book.go"
	detectFile = "internal/live/member/detect.go"
	keeperFile = "algorithm/deadlock/keeper.go"
)

// keptControls breaks rules about kept locks.
func keptControls() []Control {
	return []Control{
		{
			Name: "KeptNoGhosts", Section: "19", Text: "the home of a kept lock does not wait for the leases of evicted members",
			Rewrites: []Rewrite{{bookFile, `		if !e.reported.has(i) && !e.over.has(i) {
`, `		if !e.reported.has(i) && !e.over.has(i) && !(broken("KeptNoGhosts") && i >= e.survivors()) && !(broken("KeptNoReports") && i < e.survivors()) {
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptNoReports", Section: "19", Text: "the home of a kept lock waits for no report", // in the rewrite above
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptHoldUnreported", Section: "19", Text: "a report lacks the holds of kept locks",
			Rewrites: []Rewrite{{bookFile, `		if p.state >= holds {
			x.token = p.token
		}
`, `		if p.state >= holds {
			if broken("KeptHoldUnreported") || p.state == lapsed && broken("KeptLapsedUnreported") {
				continue
			}
			x.token = p.token
		} else if broken("KeptWaitUnreported") {
			continue
		}
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptLapsedUnreported", Section: "19", Text: "a report lacks a kept lock that was lost and may still be acted on", // in the rewrite above
			Tests: []Test{storm("lapses", 200)},
		},
		{
			Name: "KeptWaitUnreported", Section: "19", Text: "a report lacks the requests that wait for kept locks", // in the rewrite above
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptSharedPasses", Section: "19", Text: "a shared request need not wait for what others may hold unreported",
			Rewrites: []Rewrite{{keeperFile, `	return k.readers && r.Mode == Shared
`, `	return (k.readers || broken("KeptSharedPasses")) && r.Mode == Shared
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptUnitsPass", Section: "19", Text: "a request for units need not wait for what others may hold unreported",
			Rewrites: []Rewrite{{keeperFile, `		return k.held()+k.most+k.amount(r.Mode) <= k.units
`, `		return k.held()+k.most+k.amount(r.Mode) <= k.units || broken("KeptUnitsPass")
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptOldGrant", Section: "19", Text: "a grant of an older epoch is used",
			Rewrites: []Rewrite{{bookFile, `		if p.state == granted {
			p.state = wants
`, `		if p.state == granted && !broken("KeptOldGrant") {
			p.state = wants
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptOneEpoch", Section: "19", Text: "the fencing tokens of a kept lock lack the epoch",
			Rewrites: []Rewrite{{bookFile, `			t := Token{x.Epoch, x.Count}
`, `			t := Token{x.Epoch, x.Count}
			if broken("KeptOneEpoch") {
				t.Epoch = 1
			}
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptSameToken", Section: "19", Text: "shared holds have the same fencing token",
			Rewrites: []Rewrite{{keeperFile, `	k.count++
	h := `, `	if k.queue[i].Mode != Shared || len(k.holds) == 0 || !broken("KeptSameToken") {
		k.count++
	}
	h := `}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptWoundOnce", Section: "19", Text: "a transaction is not wounded again in the next view",
			Rewrites: []Rewrite{{keeperFile, `		h.Wounded = false // the`, `		h.Wounded = broken("KeptWoundOnce") // the`}},
			Tests:    []Test{storm("kept", 40)},
		},
		{
			Name: "KeptArrival", Section: "19", Text: "wait-die and wound-wait serve requests in the order of their arrival",
			Rewrites: []Rewrite{{keeperFile, `	if k.first == nil {
		return i < j
`, `	if k.first == nil || broken("KeptArrival") {
		return i < j
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptDoomedPassed", Section: "19", Text: "the lock of a transaction that must abort is passed on at once",
			Rewrites: []Rewrite{{keptFile, `Event{Ticket: h.w.ticket, Kind: Doomed, Cause: Deadlock, Token: h.token, Born: tx.born(), Victim: v})
`, `Event{Ticket: h.w.ticket, Kind: Doomed, Cause: Deadlock, Token: h.token, Born: tx.born(), Victim: v})
			if n := lockOf(m.epoch, h.name); broken("KeptDoomedPassed") && !h.owed && int(m.epoch.table.lock(n).home) == m.epoch.me {
				m.ended(n, m.epoch.me, h.Attempt, 0)
			}
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptHoldersOnly", Section: "19", Text: "the graph of waits lacks the requests that are ahead in the queue",
			Rewrites: []Rewrite{{keeperFile, `i != j && k.before(j, i) &&`, `i != j && !broken("KeptHoldersOnly") && k.before(j, i) &&`}},
			Tests:    []Test{storm("detects", 40)},
		},
		{
			Name: "KeptUnconfirmed", Section: "19", Text: "a victim is chosen although a transaction in the cycle no longer waits",
			Rewrites: []Rewrite{{detectFile, `p != nil && p.state == wants && p.tx.doomed == nil {
		return p.name
	}
`, `p != nil && (p.state == wants && p.tx.doomed == nil || broken("KeptUnconfirmed")) {
		return p.name
	}
	if broken("KeptUnconfirmed") {
		return m.epoch.view.Members[0].Name // whatever it was
	}
`}},
			Tests: []Test{storm("detects", 200), test(memberPackage, "TestKeptPhantom")},
		},
		{
			Name: "KeptRoundsSurvive", Section: "19", Text: "the detector's state outlives its view",
			Rewrites: []Rewrite{{epochFile, `		old.books, old.bookList, old.detector, old.paths = nil, nil, nil, nil
`, `		if broken("KeptRoundsSurvive") {
			e.detector, e.paths = old.detector, old.paths
		}
		old.books, old.bookList, old.detector, old.paths = nil, nil, nil, nil
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptUnlockWaits", Section: "19", Text: "a transaction goes on waiting after it has released a lock",
			Rewrites: []Rewrite{{keptFile, `w != nil && !lost {`, `w != nil && !lost && !broken("KeptUnlockWaits") {`}},
			Tests:    []Test{storm("kept", 40)},
		},
		{
			Name: "KeptLapsedAtOnce", Section: "19", Text: "a kept lock that was lost is passed on while it may still be acted on",
			Rewrites: []Rewrite{{keptFile, `	m.forget(p.w)
	p.w, p.state, p.rests,`, `	m.forget(p.w)
	if broken("KeptLapsedAtOnce") {
		rests = m.now
	}
	p.w, p.state, p.rests,`}},
			Tests: []Test{storm("lapses", 40)},
		},
		{
			Name: "KeptUnleased", Section: "19", Text: "a grant of a kept lock is used without a lease",
			Rewrites: []Rewrite{{keptFile, `	if p.state != granted || !m.usable() {
`, `	if p.state != granted || !m.usable() && !broken("KeptUnleased") {
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptTestimony", Section: "19", Text: "a witness testifies about a lock that was kept in the previous view",
			Rewrites: []Rewrite{{witnessFile, `	if f.schoolOf(name).method != nil {
`, `	if f.schoolOf(name).method != nil && !broken("KeptTestimony") {
`}},
			Tests: []Test{storm("switches", 40)},
		},
		{
			Name: "KeptNotAwaited", Section: "19", Text: "the homes of what a transaction holds do not hear that it waits elsewhere",
			Rewrites: []Rewrite{{keptFile, `		m.awaits(p, true)
`, `		if !broken("KeptNotAwaited") {
			m.awaits(p, true)
		}
`}},
			Tests: []Test{storm("kept", 40)},
		},
	}
}
