package controls

// Source files of kept locks.
const (
	keptFile      = "internal/member/kept.go"
	bookFile      = "internal/member/book.go"
	detectFile    = "internal/member/detect.go"
	pathsFile     = "internal/member/paths.go"
	keeperFile    = "algorithm/deadlock/keeper.go"
	keptClaims    = "internal/member/keptclaim.go"
	keptWitnesses = "internal/member/keptwitness.go"
)

// keptControls breaks rules about kept locks.
func keptControls() []Control {
	return []Control{
		{
			Name: "KeptNoGhosts", Section: "19", Text: "the home of a kept lock does not wait for the leases of evicted members",
			Rewrites: []Rewrite{{bookFile, `		if !e.reported.has(i) && !e.over.has(i) && may.has(i) {
`, `		if !e.reported.has(i) && !e.over.has(i) && may.has(i) && !(broken("KeptNoGhosts") && i >= e.survivors()) && !(broken("KeptNoReports") && i < e.survivors()) {
`}},
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptNoReports", Section: "19", Text: "the home of a kept lock waits for no report", // in the rewrite above
			Tests: []Test{storm("kept", 40)},
		},
		{
			Name: "KeptPathEarly", Section: "19", Text: "a home drops a path of waits that arrives before the request it ends with",
			Rewrites: []Rewrite{{pathsFile, `b != nil && slices.ContainsFunc(b.keeper.Holds(), `, `b == nil && broken("KeptPathEarly") || b != nil && slices.ContainsFunc(b.keeper.Holds(), `}},
			Tests:    []Test{test(memberPackage, "TestPathBeforeRequest")},
		},
		{
			Name: "KeptHoldUnreported", Section: "19", Text: "a report lacks the holds of kept locks",
			Rewrites: []Rewrite{{bookFile, `		if p.state >= holds {
			x.token, x.by, x.who = p.token, p.by, p.tx.client.who
		}
`, `		if p.state >= holds {
			if broken("KeptHoldUnreported") || p.state == lapsed && broken("KeptLapsedUnreported") || p.by == byClaim && broken("KeptClaimUnreported") {
				continue
			}
			x.token, x.by, x.who = p.token, p.by, p.tx.client.who
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
			Rewrites: []Rewrite{{keptFile, `Event{Ticket: h.w.ticket, Kind: Doomed, Cause: Deadlock, Token: h.token, Born: tx.born(), Victim: v, Tx: uint64(tx.id.Tx)})
`, `Event{Ticket: h.w.ticket, Kind: Doomed, Cause: Deadlock, Token: h.token, Born: tx.born(), Victim: v, Tx: uint64(tx.id.Tx)})
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
			Name: "KeptGraphAtOnce", Section: "19", Text: "all parts of a graph are sent at once, and fill the link",
			Rewrites: []Rewrite{{deliverFile, `		m.epoch.graph = &localGraph{f.round, m.localArcs()} // sent by More
`, `		m.epoch.graph = &localGraph{f.round, m.localArcs()}
		for broken("KeptGraphAtOnce") && m.graphPart(rank) {
		}
`}},
			Tests: []Test{test(memberPackage, "TestLongGraph"), test(memberPackage, "TestGraphWaitsForRoom")},
		},
		{
			Name: "KeptRoundsSurvive", Section: "19", Text: "the detector's state outlives its view",
			Rewrites: []Rewrite{{epochFile, `		old.bookList, old.detector, old.paths = nil, nil, nil // its books testify
`, `		if broken("KeptRoundsSurvive") {
			e.detector, e.paths = old.detector, old.paths
		}
		old.bookList, old.detector, old.paths = nil, nil, nil
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
			Name: "KeptLapsedLeave", Section: "19", Text: "a process leaves or stops while a kept lock that it has lost can still be acted on",
			Rewrites: []Rewrite{{"internal/member/drain.go", `p.state == lapsed && m.now < p.rests {`, `p.state == lapsed && m.now < p.rests && !broken("KeptLapsedLeave") {`}},
			Tests:    []Test{test(memberPackage, "TestInsideKept"), test(processPackage, "TestLeaveWaitsForLapsed"), storm("partings", 100)},
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

// keptWitnessControls breaks rules about what the home of a kept lock knows of the view before.
func keptWitnessControls() []Control {
	exhaustive := []Test{test(memberPackage, "TestKeptClaimModelOfThree")}
	return []Control{
		{
			Name: "KeptWitnessForgetsHolders", Section: "19", Text: "a former home does not name those that had the lock",
			Rewrites: []Rewrite{{keptWitnesses, `			may = may.or(e.those(a.Origin))
`, `			if !broken("KeptWitnessForgetsHolders") {
				may = may.or(e.those(a.Origin))
			}
`}},
			Tests: exhaustive,
		},
		{
			Name: "KeptWitnessForgetsClaims", Section: "19", Text: "a former home does not name the members whose claims it has honoured",
			Rewrites: []Rewrite{{keeperFile, `		all = append(all, k.holds[i].Attempt)
`, `		if !k.holds[i].Elsewhere || !broken("KeptWitnessForgetsClaims") {
			all = append(all, k.holds[i].Attempt)
		}
`}},
			Tests: exhaustive,
		},
		{
			Name: "KeptWitnessForgetsOwners", Section: "19", Text: "a former home names only the last of the members that had a hold",
			Rewrites: []Rewrite{{keeperFile, `		all = append(all, o.Attempt)
`, `		if !broken("KeptWitnessForgetsOwners") {
			all = append(all, o.Attempt)
		}
`}},
			Tests: exhaustive,
		},
		{
			Name: "KeptWitnessForgetsSuspects", Section: "19", Text: "a former home does not name those that it suspected itself",
			Rewrites: []Rewrite{{keptWitnesses, `		if !f.over.has(int(i)) {
`, `		if !f.over.has(int(i)) && !broken("KeptWitnessForgetsSuspects") {
`}},
			Tests: append(exhaustive, test(memberPackage, "TestKeptTestimonyOfSuspects")),
		},
		{
			Name: "KeptWitnessUntouched", Section: "19", Text: "a former home with no book of a lock takes it to be free",
			Rewrites: []Rewrite{{keptWitnesses, `	case !closed: // `, `	case !closed && !broken("KeptWitnessUntouched"): // `}},
			Tests:    []Test{test(memberPackage, "TestKeptTestimonyOfSuspects")},
		},
		{
			Name: "KeptAnyWitness", Section: "19", Text: "a member that was the home two views ago testifies",
			Rewrites: []Rewrite{{keptWitnesses, `f.view.Epoch != e.view.BeforeEpoch || `, `f.view.Epoch != e.view.BeforeEpoch && !broken("KeptAnyWitness") || `}},
			Tests:    []Test{test(memberPackage, "TestKeptTestimonyOfAnotherView")},
		},
		{
			Name: "KeptWitnessElsewhere", Section: "19", Text: "a member that was not the home in the previous view testifies",
			Rewrites: []Rewrite{{keptWitnesses, ` || f.view.home(hash) != f.me {`, ` || f.view.home(hash) != f.me && !broken("KeptWitnessElsewhere") {`}},
			Tests:    []Test{test(memberPackage, "TestKeptTestimonyOfAnotherView")},
		},
	}
}

// keptClaimControls breaks rules about claims of kept locks. The rewrite of
// KeptClaimUnreported is part of KeptHoldUnreported.
func keptClaimControls() []Control {
	return []Control{
		{
			Name: "KeptClaimCleared", Section: "19", Text: "a home honours the claim of a kept lock that rests on a ghost whose lease has expired",
			Rewrites: []Rewrite{
				{keptClaims, `		slices.Contains(b.keeper.Suspects(), uint64(e.place(c.on())))
`, `		(slices.Contains(b.keeper.Suspects(), uint64(e.place(c.on()))) || broken("KeptClaimCleared"))
`},
				{keeperFile, `		ok = slices.Contains(k.suspects, through) && h.Mode`, `		ok = (slices.Contains(k.suspects, through) || broken("KeptClaimCleared")) && h.Mode`},
			},
			Tests: []Test{test(memberPackage, "TestKeptClaimRefused")},
		},
		{
			Name: "KeptClaimClosed", Section: "19", Text: "a home honours a claim after it has closed the book of the lock",
			Rewrites: []Rewrite{{keptClaims, `	return !e.table.lock(b.lock).is(opened) && `, `	return (!e.table.lock(b.lock).is(opened) || broken("KeptClaimClosed")) && `}},
			Tests:    []Test{test(memberPackage, "TestKeptClaimStruckOut")},
		},
		{
			Name: "KeptClaimOfAnother", Section: "19", Text: "a home honours the claim of another identity than was reported",
			Rewrites: []Rewrite{{keptClaims, ` && b.owners[c.token()] == mine`, ` && (b.owners[c.token()] == mine || broken("KeptClaimOfAnother"))`}},
			Tests:    []Test{test(memberPackage, "TestForgedKeptClaim"), test(processPackage, "TestForgedClaims")},
		},
		{
			Name: "KeptClaimPassedOn", Section: "19", Text: "a client is not notified that its lock was taken and passed on",
			Rewrites: []Rewrite{{keptClaims, `		if b.passed(c) {`, `		if b.passed(c) && !broken("KeptClaimPassedOn") {`}},
			Tests:    []Test{test(memberPackage, "TestKeptClaimPassedOn")},
		},
		{
			Name: "KeptClaimTwice", Section: "19", Text: "a hold that two members have counts twice",
			Rewrites: []Rewrite{{keeperFile, `	if i < 0 {
		k.holds = append(k.holds, h)
		return false
`, `	if i < 0 || broken("KeptClaimTwice") {
		k.holds = append(k.holds, h)
		return false
`}},
			Tests: []Test{test(memberPackage, "TestKeptClaim")},
		},
		{
			Name: "KeptClaimEnded", Section: "19", Text: "a hold that two members have ends when the first of them ends it",
			Rewrites: []Rewrite{
				{keeperFile, `		if h := &k.holds[i]; gone(h.Attempt) {
`, `		if h := &k.holds[i]; gone(h.Attempt) && !broken("KeptClaimEnded") {
`},
				{keeperFile, `	k.owners = slices.DeleteFunc(k.owners, func(o owner) bool { return gone(o.Attempt) })
`, `	if broken("KeptClaimEnded") {
		for _, o := range k.owners {
			if gone(o.Attempt) {
				k.holds = slices.DeleteFunc(k.holds, func(h Hold) bool { return h.Epoch == o.epoch && h.Count == o.count })
			}
		}
	}
	k.owners = slices.DeleteFunc(k.owners, func(o owner) bool { return gone(o.Attempt) })
`},
			},
			Tests: []Test{test(memberPackage, "TestKeptClaim"), test(memberPackage, "TestKeptClaimEndsFirst"), test(memberPackage, "TestKeptClaimModel"), storm("moves", 40)},
		},
		{
			Name: "KeptClaimForgotten", Section: "19", Text: "a hold that three members have ends when the second of them ends it",
			Rewrites: []Rewrite{{keeperFile, `			k.owners = slices.Delete(k.owners, i, i+1)
`, `			if k.owners = slices.Delete(k.owners, i, i+1); broken("KeptClaimForgotten") {
				k.owners = slices.DeleteFunc(k.owners, func(o owner) bool { return o.epoch == h.Epoch && o.count == h.Count })
			}
`}},
			Tests: []Test{test(keeperPackage, "TestThreeOwners"), test(memberPackage, "TestKeptClaimThrice")},
		},
		{
			Name: "KeptClaimAnyToken", Section: "19", Text: "a home honours a claim if the lock is held, with whatever token",
			Rewrites: []Rewrite{{keeperFile, `func(o Hold) bool { return o.Epoch == h.Epoch && o.Count == h.Count && o.Count > 0 })`, `func(o Hold) bool {
		return (o.Epoch == h.Epoch && o.Count == h.Count || broken("KeptClaimAnyToken")) && o.Count > 0
	})`}},
			Tests: []Test{test(memberPackage, "TestKeptClaimRefused")},
		},
		{
			Name: "KeptClaimTestifies", Section: "19", Text: "a report of a hold that a client has claimed shows that others have nothing",
			Rewrites: []Rewrite{{bookFile, `	return x.by == byClaim || x.by == byClient && x.token`, `	return x.by == byClaim && !broken("KeptClaimTestifies") || x.by == byClient && !broken("KeptOlderTestifies") && x.token`}},
			Tests:    []Test{test(memberPackage, "TestKeptClaimProvesNothing")},
		},
		{
			Name: "KeptOlderTestifies", Section: "19", Text: "a report of a client's hold from an older view shows that others have nothing", // in the rewrite above
			Tests: []Test{test(memberPackage, "TestKeptClaimProvesNothing")},
		},
		{
			Name: "KeptClaimUnreported", Section: "19", Text: "a report lacks the kept locks that clients have claimed",
			Tests: []Test{test(memberPackage, "TestKeptClaim")},
		},
		{
			Name: "KeptClaimHasty", Section: "19", Text: "the claim of a kept lock does not wait for reports",
			Rewrites: []Rewrite{{keptClaims, `		return int(i) < e.survivors() || !slices.Contains(c.through, e.universe[i])
`, `		if int(i) < e.survivors() {
			return !broken("KeptClaimHasty")
		}
		return !broken("KeptClaimUnnamed") && !slices.Contains(c.through, e.universe[i])
`}},
			Tests: []Test{test(memberPackage, "TestKeptClaimWaits")},
		},
		{
			Name: "KeptClaimUnnamed", Section: "19", Text: "the claim of a kept lock does not wait for a ghost that the client does not name", // in the rewrite above
			Tests: []Test{test(memberPackage, "TestKeptClaimAwaitsGhosts"), test(memberPackage, "TestKeptClaimModelOfThree/exclusive/1_3/home_m3/other_m3")},
		},
		{
			Name: "KeptClaimFirst", Section: "19", Text: "claims of a kept lock are decided in the order of their arrival",
			Rewrites: []Rewrite{{keptClaims, `	for i < len(b.asked) && !b.asked[i].token().Less(c.token()) {`, `	for i < len(b.asked) && (broken("KeptClaimFirst") || !b.asked[i].token().Less(c.token())) {`}},
			Tests:    []Test{test(memberPackage, "TestKeptClaimLatestFirst")},
		},
		{
			Name: "KeptClaimLater", Section: "19", Text: "a home honours the claim of a kept lock although a later hold excluded it",
			Rewrites: []Rewrite{{keptClaims, ` && !b.passed(c) &&
`, ` && (!b.passed(c) || broken("KeptClaimLater")) &&
`}},
			Tests: []Test{test(memberPackage, "TestKeptClaimAfterLater")},
		},
		{
			Name: "KeptClaimInOwnView", Section: "19", Text: "a kept lock is claimed in the view in which it was acquired",
			Rewrites: []Rewrite{{keptClaims, `e.view.Epoch <= p.token.Epoch || `, `e.view.Epoch <= p.token.Epoch && !broken("KeptClaimInOwnView") || `}},
			Tests:    []Test{test(memberPackage, "TestKeptClaim"), test(memberPackage, "TestKeptClaimModel")},
		},
	}
}
