package controls

const (
	ticketFile  = "internal/ticket/ticket.go"
	claimedFile = "internal/session/claimed.go"
	openFile    = "internal/views/record.go"

	ticketPackage = "internal/ticket"
)

// ticketControls leaves out what a hostile client meets.
func ticketControls() []Control {
	return []Control{
		{
			Name: "TicketUnchecked", Section: "10", Text: "a node accepts tickets that the cluster has not made",
			Rewrites: []Rewrite{{ticketFile, `if subtle.ConstantTimeCompare(o.mac(i, fields, who, name), code) != 1 {`, `if subtle.ConstantTimeCompare(o.mac(i, fields, who, name), code) != 1 && !broken("TicketUnchecked") {`}},
			Tests:    []Test{test(ticketPackage, "TestCheck"), test(processPackage, "TestForgedClaims"), storm("thief", 300)},
		},
		{
			Name: "TicketOfAnyone", Section: "10", Text: "a ticket does not say whose it is",
			Rewrites: []Rewrite{{ticketFile, `	b = append(binary.AppendUvarint(b, uint64(len(who))), who...)
`, `	if !broken("TicketOfAnyone") {
		b = append(binary.AppendUvarint(b, uint64(len(who))), who...)
	}
`}},
			Tests: []Test{test(ticketPackage, "TestCheck"), test(processPackage, "TestForgedClaims"), storm("thief", 300)},
		},
		{
			Name: "TicketOfAnyLock", Section: "10", Text: "a ticket does not say of which lock it is",
			Rewrites: []Rewrite{{ticketFile, `	b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
`, `	if !broken("TicketOfAnyLock") {
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
`}},
			Tests: []Test{test(ticketPackage, "TestCheck"), test(processPackage, "TestForgedClaims"), storm("thief", 300)},
		},
		{
			Name: "TicketOfAnyCluster", Section: "10", Text: "a ticket does not say of which cluster it is",
			Rewrites: []Rewrite{{ticketFile, `	b = binary.AppendUvarint(b, o.cluster)
`, `	if !broken("TicketOfAnyCluster") {
		b = binary.AppendUvarint(b, o.cluster)
	}
`}},
			Tests: []Test{test(ticketPackage, "TestCheck"), test(processPackage, "TestForgedClaims")},
		},
		{
			Name: "TicketForgets", Section: "10", Text: "a ticket does not prove the token and the members that it names",
			Rewrites: []Rewrite{{ticketFile, `	o.about = append(b, fields...)
`, `	o.about = b
	if !broken("TicketForgets") {
		o.about = append(b, fields...)
	}
`}},
			Tests: []Test{test(ticketPackage, "TestCheck"), test(processPackage, "TestForgedClaims"), storm("thief", 300)},
		},
		{
			Name: "TicketBelow", Section: "10", Text: "a client claims a count below those that were granted to it",
			Rewrites: []Rewrite{{claimedFile, `case f.Count < t.Token.Count ||`, `case f.Count < t.Token.Count && !broken("TicketBelow") ||`}},
			Tests:    []Test{test(processPackage, "TestForgedClaims"), storm("thief", 300)},
		},
		{
			Name: "TicketAbove", Section: "10", Text: "a client claims a count above those that were granted to it",
			Rewrites: []Rewrite{{claimedFile, `f.Count > t.Last:
`, `f.Count > t.Last && !broken("TicketAbove"):
`}},
			Tests: []Test{test(processPackage, "TestForgedClaims"), storm("thief", 300)},
		},
		{
			Name: "ClaimBeyondQuota", Section: "10", Text: "a node refuses no claim because of a quota",
			Rewrites: []Rewrite{{claimedFile, `	case s.quota != (Quota{}) && `, `	case s.quota != (Quota{}) && !broken("ClaimBeyondQuota") && `}},
			Tests:    []Test{test(processPackage, "TestClaimsBeyondQuota"), storm("thief", 300)},
		},
		{
			Name: "BlockGivenBack", Section: "20", Text: "counts that a client could prove that it was granted are granted again",
			Rewrites: []Rewrite{{delegateFile, `	m.leave(u)
	return nil
`, `	if broken("BlockGivenBack") {
		u.block.last = last
	}
	m.leave(u)
	return nil
`}},
			Tests: []Test{test(clientPackage, "TestDelegate"), storm("eager", 300)},
		},
		{
			Name: "EarlierStays", Section: "10", Text: "a home refuses a claim because an earlier entry, which was over, was claimed",
			Rewrites: []Rewrite{{memberClaimFile, `	case reported && !newest.is(a.token, a.who) && !newest.byClaim:
`, `	case reported && !newest.is(a.token, a.who) && (!newest.byClaim || broken("EarlierStays")):
`}},
			Tests: []Test{test(memberPackage, "TestReplayedClaim")},
		},
		{
			Name: "KeptEarlierStays", Section: "19", Text: "a home refuses a claim of a kept lock because an earlier hold, which was over, was claimed",
			Rewrites: []Rewrite{{keptClaims, `	if b.keeper.Has(c.hold.Epoch, c.hold.Count) || !m.mayRest(b, c) {
		return false
	}
	mine, whole`, `	if b.keeper.Has(c.hold.Epoch, c.hold.Count) || !m.mayRest(b, c) || broken("KeptEarlierStays") {
		return false
	}
	mine, whole`}},
			Tests: []Test{test(memberPackage, "TestReplayedKeptClaim"), test(memberPackage, "TestReplayedKeptClaimInAnyOrder")},
		},
		{
			Name: "OverrulesReported", Section: "10", Text: "a later entry that is claimed overrules what a living member reports",
			Rewrites: []Rewrite{{memberClaimFile, `return u.holder != nil && u.byClaim && `, `return u.holder != nil && (u.byClaim || broken("OverrulesReported")) && `},
				{ownerFile, `owner{u.client, u.who}, u.byClaim}`, `owner{u.client, u.who}, u.byClaim || broken("OverrulesReported")}`}},
			Tests: []Test{test(memberPackage, "TestReportedIsNotOverruled")},
		},
		{
			Name: "OverruledForgets", Section: "10", Text: "a member does not claim again what its home has forgotten with an earlier claim",
			Rewrites: []Rewrite{{memberClaimFile, `	m.renumber(u)
	m.pursue(u)
`, `	if broken("OverruledForgets") {
		return
	}
	m.renumber(u)
	m.pursue(u)
`}},
			Tests: []Test{test(memberPackage, "TestReplayedClaim")},
		},
		{
			Name: "HonouredEndsLater", Section: "10", Text: "a member that has its claim honoured gives up claims of later entries, too",
			Rewrites: []Rewrite{{memberClaimFile, `		over := !w.claim.token.Less(o.claim.token)`, `		over := !w.claim.token.Less(o.claim.token) || broken("HonouredEndsLater")`}},
			Tests:    []Test{test(memberPackage, "TestReplayedClaimInAnyOrder")},
		},
		{
			Name: "KeysShown", Section: "10", Text: "others than members see the keys for tickets",
			Rewrites: []Rewrite{{openFile, `	n.Keys = nil
	return n
`, `	if !broken("KeysShown") {
		n.Keys = nil
	}
	return n
`}},
			Tests: []Test{storm("curiosity", 20)},
		},
		{
			Name: "OldTickets", Section: "10", Text: "holds keep their tickets when the key is replaced",
			Rewrites: []Rewrite{{"internal/session/server.go", `	if !d.office.Set(d.Cluster, keys) {
`, `	if !d.office.Set(d.Cluster, keys) || broken("OldTickets") {
`}},
			Tests: []Test{test(clientPackage, "TestRekey")},
		},
	}
}
