package controls

// Source files of clients and their sessions.
const (
	attachmentFile    = "internal/session/attachment.go"
	claimFile         = "internal/session/claim.go"
	dialFile          = "internal/session/dial.go"
	serverFile        = "internal/session/server.go"
	sessionClientFile = "internal/session/client.go"
	serveFile         = "internal/session/serve.go"
	taskFile          = "internal/session/task.go"
)

// clientControls breaks rules about clients and their sessions.
func clientControls() []Control {
	return []Control{
		{
			Name: "AnyCluster", Section: "10", Text: "a client opens a session with a node of another cluster",
			Rewrites: []Rewrite{{dialFile, `if !g.belongs(f) {`, `if !g.belongs(f) && !broken("AnyCluster") {`}},
			Tests:    []Test{test(clientPackage, "TestOtherCluster")},
		},
		{
			Name: "LearnsAll", Section: "10", Text: "a client keeps all addresses that nodes have ever reported",
			Rewrites: []Rewrite{{dialFile, `		g.nodes = slices.Clone(g.config.Nodes)
`, `		if !broken("LearnsAll") {
			g.nodes = slices.Clone(g.config.Nodes)
		}
`}},
			Tests: []Test{test(clientPackage, "TestReplacedNodes")},
		},
		{
			Name: "LateCount", Section: "10", Text: "a client counts its time from the answer",
			Rewrites: []Rewrite{{attachmentFile, `	from := a.renews[i].at
`, `	from := a.renews[i].at
	if broken("LateCount") {
		from = g.now
	}
`}},
			Tests: []Test{storm("late", 400), test(clientPackage, "TestClientNested")},
		},
		{
			Name: "Revives", Section: "10", Text: "a client's time is not over while an answer may come",
			Rewrites: []Rewrite{{sessionClientFile, `if a := g.cur; a.session != 0 && g.now >= a.limit() {`, `if a := g.cur; a.session != 0 && g.now >= a.limit() && !(broken("Revives") && len(a.renews) > 0) {`}},
			Tests:    []Test{storm("late", 100), test(clientPackage, "TestClientOver"), test(clientPackage, "TestWorld")},
		},
		{
			Name: "SaysOnce", Section: "10", Text: "an unlock is not repeated on a new connection",
			Rewrites: []Rewrite{{taskFile, `	f := Frame{Kind: Unlock, Number: t.wire}
	switch t.state {
`, `	f := Frame{Kind: Unlock, Number: t.wire}
	if t.state == leaving && broken("SaysOnce") {
		return
	}
	switch t.state {
`}},
			Tests: []Test{storm("flaky", 100), test(clientPackage, "TestWorld")},
		},
		{
			Name: "AsksHeld", Section: "10", Text: "a client asks again for what it holds, instead of checking it",
			Rewrites: []Rewrite{
				{taskFile, `	case inside:
		f.Kind = Check`, `	case inside:
		if broken("AsksHeld") {
			f.Kind, f.Name, f.Try = Lock, t.name, t.try
			break
		}
		f.Kind = Check`},
				{taskFile, `t.state == inside && t.token != f.Token:`, `t.state == inside && t.token != f.Token && !broken("AsksHeld"):`},
			},
			Tests: []Test{test(clientPackage, "TestClientChecks")},
		},
		{
			Name: "LateClaim", Section: "10", Text: "a hold outlives its deadline while a claim of it is not answered",
			Rewrites: []Rewrite{{sessionClientFile, `		if a.session != 0 && g.now >= a.limit() {
`, `		if a.session != 0 && g.now >= a.limit() && !broken("LateClaim") {
`}},
			Tests: []Test{test(clientPackage, "TestClaimHonouredTooLate")},
		},
		{
			Name: "SaysMoved", Section: "10", Text: "a node that is not leaving is notified that a hold has moved",
			Rewrites: []Rewrite{
				{attachmentFile, `a.phase == open && !a.parting && !a.asked {
			return false`, `a.phase == open && !a.parting && !a.asked && !broken("SaysMoved") {
			return false`},
				{attachmentFile, `(a.parting || a.asked || a.moved == 0) {`, `(a.parting || a.asked || a.moved == 0 || broken("SaysMoved")) {`},
			},
			Tests: []Test{test(clientPackage, "TestBlip")},
		},
		{
			Name: "ReleasesOne", Section: "10", Text: "a hold that has moved is released only where it rests",
			Rewrites: []Rewrite{{claimFile, `		} else {
			g.owe(a, t.wire)
`, `		} else if !broken("ReleasesOne") {
			g.owe(a, t.wire)
`}},
			Tests: []Test{test(clientPackage, "TestBlip")},
		},
		{
			Name: "LeavesWaiter", Section: "10", Text: "a request that waits at another node is not withdrawn at the former one",
			Rewrites: []Rewrite{{dialFile, `if kept && !a.parting {`, `if kept && !a.parting && !broken("LeavesWaiter") {`}},
			Tests:    []Test{test(clientPackage, "TestBlip")},
		},
		{
			Name: "MoveUnrenewed", Section: "10", Text: "a client that is asked to move no longer renews its session, as if its node left",
			Rewrites: []Rewrite{{dialFile, `		g.shunned = a.inc
		g.start()
`, `		g.shunned = a.inc
		a.parting = broken("MoveUnrenewed")
		g.start()
`}},
			Tests: []Test{test(clientPackage, "TestAskedToMove"), test(processPackage, "TestMoveWithoutLocks")},
		},
		{
			Name: "MoveTrusted", Section: "10", Text: "a node takes the end of the session of a client that it has asked to move for the client's word that it has stopped",
			Rewrites: []Rewrite{{serveFile, `if s.asked {`, `if s.asked && !broken("MoveTrusted") {`}},
			Tests:    []Test{test(processPackage, "TestMoveFromEvicted")},
		},
		{
			Name: "MoveForgotten", Section: "10", Text: "a client that was asked to move, and resumes its session on another connection, counts as not asked",
			Rewrites: []Rewrite{{serverFile, `	s.quota = by.quota
	d.bind(conn, s)
`, `	if broken("MoveForgotten") {
		s.asked = false
	}
	s.quota = by.quota
	d.bind(conn, s)
`}},
			Tests: []Test{test(clientPackage, "TestMoveRemembered")},
		},
		{
			Name: "MoveUnrefreshed", Section: "10", Text: "there is no later view in which a client that is asked to move could claim its locks",
			Rewrites: []Rewrite{{"internal/process/clients.go", `if p.Out.Err = err; holds {`, `if p.Out.Err = err; holds && !broken("MoveUnrefreshed") {`}},
			Tests:    []Test{test(processPackage, "TestMoveClient")},
		},
		{
			Name: "StaleCounts", Section: "10", Text: "frames on a superseded connection count",
			Rewrites: []Rewrite{
				{serverFile, `	case !fresh && f.Number <= s.hello:
`, `	case !fresh && f.Number <= s.hello && !broken("StaleCounts"):
`},
				{serverFile, `		delete(d.conns, s.conn)
		d.Out.Frames`, `		if !broken("StaleCounts") {
			delete(d.conns, s.conn)
		}
		d.Out.Frames`},
			},
			Tests: []Test{test(clientPackage, "TestSuperseded")},
		},
		{
			Name: "AnySecret", Section: "10", Text: "a node does not check the secret of a session",
			Rewrites: []Rewrite{{serverFile, `s != nil && s.secret.equal(&f.Secret) &&`, `s != nil && (s.secret.equal(&f.Secret) || broken("AnySecret")) &&`}},
			Tests:    []Test{test(clientPackage, "TestSecret")},
		},
		{
			Name: "AnyIdentity", Section: "10", Text: "a node lets another identity resume a session",
			Rewrites: []Rewrite{{serverFile, `s.Who == who {`, `(s.Who == who || broken("AnyIdentity")) {`}},
			Tests:    []Test{storm("clients", 20), test(clientPackage, "TestAnotherIdentity")},
		},
		{
			Name: "KeepsGrant", Section: "10", Text: "a lock granted in the step that takes it back is kept",
			Rewrites: []Rewrite{{serveFile, `		} else {
			d.due = append(d.due, r)
`, `		} else if !broken("KeepsGrant") {
			d.due = append(d.due, r)
`}},
			Tests: []Test{test(clientPackage, "TestGrantedAndTakenBack")},
		},
	}
}

// hostControls breaks rules about the host of a member, and about the resource, which the
// storm plays: it has flags for them.
func hostControls() []Control {
	return []Control{
		{
			Name: "KeepHolds", Section: "11", Text: "an evicted process keeps its holds",
			Rewrites: []Rewrite{{"internal/process/membership.go", `	if p.m != nil && !parts {
`, `	if p.m != nil && !parts && !broken("KeepHolds") {
`}},
			Tests: []Test{storm("usual", 50)},
		},
		{
			Name: "SameInc", Section: "2", Text: "a process joins again as the same incarnation",
			Rewrites: []Rewrite{{"internal/process/membership.go", `		nonce = p.draw()
`, `		if nonce = p.draw(); broken("SameInc") {
			nonce = 1
			for _, b := range []byte(p.config.Name) {
				nonce = nonce<<8 | uint64(b)
			}
		}
`}},
			Tests: []Test{storm("usual", 50)},
		},
		{
			Name: "LapsedLeave", Section: "11", Text: "a process leaves while a lock that it has lost can still be acted on",
			Rewrites: []Rewrite{{"internal/member/drain.go", `u.lapsed && m.now < u.rests {`, `u.lapsed && m.now < u.rests && !broken("LapsedLeave") {`}},
			Tests:    []Test{test(processPackage, "TestLeaveWaitsForLapsed")},
		},
		{
			Name: "SavesIgnored", Section: "18", Text: "a new voter starts before its first state is saved",
			Rewrites: []Rewrite{{"internal/process/voter.go", `	p.do(e)
`, `	if p.do(e); broken("SavesIgnored") && s.what == firstState {
		p.open(s.state)
	}
`}},
			Tests: []Test{test(processPackage, "TestPromotionWaitsForDisk")},
		},
		{
			Name: "GarbageEnds", Section: "5", Text: "a malformed message ends the process that receives it",
			Rewrites: []Rewrite{{"internal/process/links.go", `		p.do(Effect{Kind: HangUp, To: from, Err: err})
	}
`, `		if p.do(Effect{Kind: HangUp, To: from, Err: err}); broken("GarbageEnds") {
			p.do(Effect{Kind: Failed, Err: err})
		}
	}
`}},
			Tests: []Test{storm("garbled", 12)},
		},
		{
			Name: "NewerFrames", Section: "6", Text: "half of the processes are of a later version, which sends a frame of an optional kind ahead of each other frame",
			Rewrites: []Rewrite{{"internal/process/membership.go", `		p.links.Send(f.To, f.Bytes)
`, `		if broken("NewerFrames") && p.inc%2 == 0 {
			p.links.Send(f.To, []byte{0x7f, 1, 2, 3})
		}
		p.links.Send(f.To, f.Bytes)
`}, {"internal/process/links.go", `	p.observe(Effect{Kind: Delivering, Peer: from, Bytes: f})
`, `	if broken("NewerFrames") && f[0] == 0x7f {
		return p.m.Deliver(p.clock, from, f)
	}
	p.observe(Effect{Kind: Delivering, Peer: from, Bytes: f})
`}},
			Harmless: true,
			Tests:    []Test{storm("usual", 30)},
		},
		{
			Name: "OptionalRefused", Section: "6", Text: "a frame of an optional kind that is unknown ends the link", With: "NewerFrames",
			Rewrites: []Rewrite{{"internal/member/frame.go", `	case codec.Optional(b[0]):
`, `	case codec.Optional(b[0]) && !broken("OptionalRefused"):
`}},
			Tests: []Test{storm("usual", 12)},
		},
		{
			Name: "NoFence", Section: "4", Text: "the resource ignores fencing tokens",
			Tests: []Test{storm("usual", 50, "-no-fence")},
		},
	}
}
