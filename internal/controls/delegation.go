package controls

const (
	delegateFile       = "internal/member/delegate.go"
	clientDelegateFile = "internal/session/delegate.go"
	memberUseFile      = "internal/member/use.go"
)

// delegationControls breaks rules about locks that are delegated to clients. The rewrite of
// DelegatedUnreported is part of StaleReport.
func delegationControls() []Control {
	return []Control{
		{
			Name: "DelegatesHeard", Section: "20", Text: "a lock is delegated although a frame about it has come",
			Rewrites: []Rewrite{{delegateFile, `!l.is(silent) || `, `!l.is(silent) && !broken("DelegatesHeard") || `}},
			Tests:    []Test{model("DelegatesHeard")},
		},
		{
			Name: "DelegatesAwaited", Section: "20", Text: "a lock is delegated although a request waits at its member",
			Rewrites: []Rewrite{{delegateFile, `u.first != nil || `, `u.first != nil && !broken("DelegatesAwaited") || `}},
			Tests:    []Test{test(memberPackage, "TestDelegatesSilent")},
		},
		{
			Name: "DelegatedUnreported", Section: "20", Text: "a member does not report a delegated lock as held",
			Tests: []Test{model("DelegatedUnreported")},
		},
		{
			Name: "DelegatedAfterDeadline", Section: "20", Text: "a client enters by itself when its session has expired",
			Rewrites: []Rewrite{{attachmentFile, `		case t.state == idle: // no application is inside
`, `		case t.state == idle: // no application is inside
			if broken("DelegatedAfterDeadline") {
				return false
			}
`}},
			Tests: []Test{test(clientPackage, "TestDelegatedExpires")},
		},
		{
			Name: "KeepUncounted", Section: "20", Text: "a hold that is kept has the token of the first entry",
			Rewrites: []Rewrite{{delegateFile, `	u.token.Count = count
`, `	if u.token.Count = count; broken("KeepUncounted") {
		u.token.Count = t.Count
	}
`}},
			Tests: []Test{test(clientPackage, "TestRecall"), model("KeepUncounted"), storm("eager", 20)},
		},
		{
			Name: "LossUncounted", Section: "20", Text: "a block that is lost is not used up",
			Rewrites: []Rewrite{{delegateFile, `		l.count = b.last
`, `		if l.count = b.last; broken("LossUncounted") && b.last-u.token.Count >= 2 { // no client names such a count in the tests
			l.count = u.token.Count
		}
`}},
			Tests: []Test{test(clientPackage, "TestBlockUsedUp"), model("LossUncounted")},
		},
		{
			Name: "NoRecallByFrame", Section: "20", Text: "a frame about a delegated lock does not recall it",
			Rewrites: []Rewrite{{delegateFile, `	if u := m.epoch.found(n); u != nil {
		m.recallUse(u)
	}
`, `	if u := m.epoch.found(n); u != nil && !broken("NoRecallByFrame") {
		m.recallUse(u)
	}
`}},
			Tests: []Test{model("NoRecallByFrame")},
		},
		{
			Name: "NoRecallHere", Section: "20", Text: "a request at the member that has delegated a lock does not recall it",
			Rewrites: []Rewrite{{memberUseFile, `	m.recallUse(u)
	m.settle(u)
`, `	if !broken("NoRecallHere") {
		m.recallUse(u)
	}
	m.settle(u)
`}},
			Tests: []Test{test(clientPackage, "TestRecall"), model("NoRecallHere")},
		},
		{
			Name: "NoRecallByView", Section: "20", Text: "the installation of a view does not recall delegated locks",
			Rewrites: []Rewrite{{epochFile, `				m.recallUse(u)
`, `				if !broken("NoRecallByView") {
					m.recallUse(u)
				}
`}},
			Tests: []Test{model("NoRecallByView")},
		},
		{
			Name: "NoRecallByDrain", Section: "20", Text: "a node that is about to stop does not recall delegated locks",
			Rewrites: []Rewrite{{serverFile, `				d.recall(r)
`, `				if !broken("NoRecallByDrain") {
					d.recall(r)
				}
`}},
			Tests: []Test{test(clientPackage, "TestDrainRecalls")},
		},
		{
			Name: "RecalledOnce", Section: "20", Text: "a recall is not repeated on a new connection",
			Rewrites: []Rewrite{{serveFile, `		if r.recalled {
			d.recall(r)
		}
`, `		if r.recalled && !broken("RecalledOnce") {
			d.recall(r)
		}
`}},
			Tests: []Test{test(clientPackage, "TestRecall")},
		},
		{
			Name: "RecallForgotten", Section: "20", Text: "a node forgets a recall that comes while the client is not connected",
			Rewrites: []Rewrite{{serveFile, `	r.recalled = true
	d.send(`, `	r.recalled = r.of.conn != 0 || !broken("RecallForgotten")
	d.send(`}},
			Tests: []Test{test(clientPackage, "TestRecallWhileAway")},
		},
		{
			Name: "EntersRecalled", Section: "20", Text: "applications of a client enter after it has kept a recalled lock",
			Rewrites: []Rewrite{{clientDelegateFile, `		g.keep(t)
		g.send(t.on, `, `		if !broken("EntersRecalled") {
			g.keep(t)
		}
		g.send(t.on, `}},
			Tests: []Test{test(clientPackage, "TestRecalledInUse"), storm("eager", 20)},
		},
		{
			Name: "QueueStays", Section: "20", Text: "requests that wait in the client for a recalled lock are not sent to the node",
			Rewrites: []Rewrite{{clientDelegateFile, `	for _, o := range t.queue {
		o.behind, g.unqueued = nil, true
	}
	t.queue = nil
	if`, `	for _, o := range t.queue {
		if !broken("QueueStays") {
			o.behind, g.unqueued = nil, true
		}
	}
	t.queue = nil
	if`}},
			Tests: []Test{test(clientPackage, "TestRecalledInUse"), storm("eager", 50)},
		},
		{
			Name: "HandoversBeginAnew", Section: "20", Text: "handovers are counted anew after a delegation",
			Rewrites: []Rewrite{{delegateFile, `	if u.block = nil; b == nil {
		return
	}
`, `	if u.block = nil; b == nil {
		return
	}
	if broken("HandoversBeginAnew") {
		u.handed = 0
	}
`}},
			Tests: []Test{test(memberPackage, "TestDelegationIsHandover")},
		},
		{
			Name: "KeepBeginsAnew", Section: "20", Text: "handovers are counted anew after KEEP",
			Rewrites: []Rewrite{{delegateFile, `	m.busy(u, b)
	return u.token, nil
`, `	if broken("KeepBeginsAnew") {
		u.handed = 0
	}
	if !broken("KeepUnanswered") {
		m.busy(u, b)
	}
	return u.token, nil
`}},
			Tests: []Test{test(memberPackage, "TestDelegationIsHandover")},
		},
		{
			Name: "KeepUnanswered", Section: "20", Text: "KEEP does not answer the tries that wait for it", // in the rewrite above
			Tests: []Test{test(memberPackage, "TestKeepAnswersTries"), test(clientPackage, "TestTryRecalls")},
		},
		{
			Name: "AnotherBlock", Section: "20", Text: "a repeated grant names another block",
			Rewrites: []Rewrite{{serveFile, `		d.send(r.of, &Frame{Kind: Delegated, Number: r.number, Token: r.token, Count: r.block, Ticket: d.ticket(r)})
`, `		if d.send(r.of, &Frame{Kind: Delegated, Number: r.number, Token: r.token, Count: r.block, Ticket: d.ticket(r)}); broken("AnotherBlock") {
			r.token.Count++
		}
`}},
			Tests: []Test{test(clientPackage, "TestRecall"), storm("eager", 50)},
		},
		{
			Name: "ResumesKept", Section: "20", Text: "after a reconnect a client sends KEEP for a delegated lock in use, instead of CHECK, and goes on entering by itself",
			Rewrites: []Rewrite{{taskFile, `	if g.send(t.on, &f); t.state == inside {
`, `	if t.state == inside && t.block != 0 && broken("ResumesKept") {
		f.Kind, f.Count = Keep, t.token.Count
	}
	if g.send(t.on, &f); t.state == inside {
`}},
			Tests: []Test{test(clientPackage, "TestDelegatedChecks"), test(clientPackage, "TestDelegatedTokensOnce"), storm("eager", 100)},
		},
		{
			Name: "HandoverGrants", Section: "20", Text: "after a local handover a client takes the token of an entry for that of the grant",
			Rewrites: []Rewrite{{clientDelegateFile, `	g.delegations[t.name], g.delegates[t.wire] = next, next
`, `	if g.delegations[t.name], g.delegates[t.wire] = next, next; broken("HandoverGrants") {
		next.granted = t.token
	}
`}},
			Tests: []Test{test(clientPackage, "TestHandedOverChecks")},
		},
		{
			Name: "AnyCount", Section: "20", Text: "a count outside of the block is accepted",
			Rewrites: []Rewrite{{delegateFile, `	if count < t.Count || count > u.block.last {
`, `	if (count < t.Count || count > u.block.last) && !broken("AnyCount") {
`}},
			Tests: []Test{test(clientPackage, "TestForeignCount")},
		},
		{
			Name: "KeptWhenIdle", Section: "20", Text: "a client does not return what it does not use",
			Rewrites: []Rewrite{{clientDelegateFile, `	return l.first.expires
`, `	if broken("KeptWhenIdle") {
		return member.Never
	}
	return l.first.expires
`}},
			Tests: []Test{test(clientPackage, "TestIdleReturns")},
		},
		{
			Name: "BreakFrees", Section: "20", Text: "a node frees the delegated locks of a client whose connection breaks",
			Rewrites: []Rewrite{{serverFile, `func (d *Server) Closed(conn uint64) {
`, `func (d *Server) Closed(conn uint64) {
	if s := d.conns[conn]; s != nil && broken("BreakFrees") {
		for r := s.first; r != nil; r = r.next {
			if r.block != 0 {
				d.due = append(d.due, r)
			}
		}
		d.wake()
	}
`}},
			Tests: []Test{test(clientPackage, "TestBreakFreesNothing"), storm("eager", 100)},
		},
		{
			Name: "TryForever", Section: "20", Text: "a try waits for the answer to a recall without limit",
			Rewrites: []Rewrite{{delegateFile, `u.block.end.place == 0 {
`, `u.block.end.place == 0 && !broken("TryForever") {
`}},
			Tests: []Test{test(clientPackage, "TestTryRecalls")},
		},
		{
			Name: "TryUnrecalled", Section: "20", Text: "a try does not recall a delegated lock",
			Rewrites: []Rewrite{{delegateFile, `	if u.block == nil || u.lapsed || u.carried {
`, `	if u.block == nil || u.lapsed || u.carried || broken("TryUnrecalled") {
`}},
			Tests: []Test{test(clientPackage, "TestTryRecalls")},
		},
		{
			Name: "ClaimsFirst", Section: "20", Text: "a delegated lock is claimed with the token with which it was granted",
			Rewrites: []Rewrite{{claimFile, `	g.send(t.claim, &Frame{Kind: Claim, Number: t.wire, Name: t.name, Count: t.token.Count, Ticket: t.ticket})
`, `	f := Frame{Kind: Claim, Number: t.wire, Name: t.name, Count: t.token.Count, Ticket: t.ticket}
	if broken("ClaimsFirst") && t.granted.Epoch != 0 {
		f.Count = t.granted.Count
	}
	g.send(t.claim, &f)
`}},
			Tests: []Test{test(clientPackage, "TestDelegatedMoves")},
		},
		{
			Name: "MovesDelegated", Section: "20", Text: "a client goes on entering by itself while it claims a lock elsewhere",
			Rewrites: []Rewrite{
				{claimFile, `			g.keep(t)
			t.claim`, `			if !broken("MovesDelegated") {
				g.keep(t)
			}
			t.claim`},
				{dialFile, `			case inside:
				g.keep(t)
			}
`, `			case inside:
				if !broken("MovesDelegated") {
					g.keep(t)
				}
			}
`}},
			Tests: []Test{test(clientPackage, "TestDelegatedMoves")},
		},
		{
			Name: "IdleStays", Section: "20", Text: "the applications of a client that has moved enter a lock that was idle at the former node",
			Rewrites: []Rewrite{{dialFile, `				g.letGo(t) // only locks in use are claimed elsewhere
`, `				if !broken("IdleStays") {
					g.letGo(t) // only locks in use are claimed elsewhere
				}
`}},
			Tests: []Test{test(clientPackage, "TestIdleLeftBehind")},
		},
		{
			Name: "ClaimKeepsBlock", Section: "20", Text: "a node at which a client claims what that node has delegated to it still counts the lock as delegated",
			Rewrites: []Rewrite{{serveFile, `r.block != 0 && err == nil && t.Token.Epoch == r.token.Epoch {`, `r.block != 0 && err == nil && t.Token.Epoch == r.token.Epoch && !broken("ClaimKeepsBlock") {`}},
			Tests:    []Test{test(clientPackage, "TestDelegatedMovesBack")},
		},
		{
			Name: "ChangeKeepsDelegated", Section: "20", Text: "a delegated lock whose name becomes a kept one stays held",
			Rewrites: []Rewrite{{"internal/member/keptchange.go", `			if p.state == holds {
				m.lapses`, `			if p.state == holds && !broken("ChangeKeepsDelegated") {
				m.lapses`}},
			Tests: []Test{test(memberPackage, "TestDelegatedBecomesKept")},
		},
		{
			Name: "CountsOverflow", Section: "20", Text: "a member with a lock of many entries does not ask for another view",
			Rewrites: []Rewrite{{memberUseFile, `e.full || l.count >= fullCount`, `e.full || l.count >= fullCount && !broken("CountsOverflow")`}},
			Tests:    []Test{test(memberPackage, "TestFullCount")},
		},
	}
}
