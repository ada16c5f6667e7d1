package controls

const (
	memberClaimFile = "internal/member/claim.go"
	ownerFile       = "internal/member/owner.go"
	modelClientFile = "lab/internal/viewmodel/client.go"
)

// claimControls breaks rules about claims. The rewrite of ClaimUnreported is part of
// StaleReport.
func claimControls() []Control {
	return []Control{
		{
			Name: "LateConfirmation", Section: "10", Text: "a client goes on if its claim is confirmed after its deadline",
			Rewrites: []Rewrite{
				{modelClientFile, `n.client.holds, n.client.by, n.client.told = 0, 0, 0
`, `n.client.holds, n.client.by = 0, 0
			if !broken("LateConfirmation") {
				n.client.told = 0
			}
`},
				{modelClientFile, `		if c.holds > 0 {
			c.told`, `		if c.holds > 0 || broken("LateConfirmation") {
			c.told`},
			},
			Tests: []Test{model("LateConfirmation")},
		},
		{
			Name: "ClaimAfterRelease", Section: "10", Text: "a home honours claims after it has entered, lent or released the lock", With: "LateConfirmation,ClaimThroughUnknown",
			Rewrites: []Rewrite{{memberClaimFile, `	if l.is(cleared) || l.is(opened) {
`, `	if (l.is(cleared) || l.is(opened)) && !broken("ClaimAfterRelease") {
`}},
			Tests: []Test{test(memberPackage, "TestClaimTooLate"), model("ClaimAfterRelease")},
		},
		{
			Name: "ClaimInOwnView", Section: "10", Text: "a lock is claimed in the view in which it was entered",
			Rewrites: []Rewrite{{memberClaimFile, `e.view.Epoch <= w.claim.token.Epoch {`, `e.view.Epoch <= w.claim.token.Epoch && !broken("ClaimInOwnView") {`}},
			Tests:    []Test{test(memberPackage, "TestClaim"), model("ClaimInOwnView")},
		},
		{
			Name: "ClaimUnawaited", Section: "10", Text: "a claim does not wait for the report of a member through which the client held the lock",
			Rewrites: []Rewrite{
				{memberClaimFile, `i < e.survivors() && !u.held.has(i) {`, `i < e.survivors() && !u.held.has(i) && !broken("ClaimUnawaited") {`},
				{memberClaimFile, `	return false, place < 0 || e.reported.has(place) || !suspects.has(place)
`, `	known = place < 0 || e.reported.has(place) || !suspects.has(place)
	return !known && broken("ClaimUnawaited"), known || broken("ClaimUnawaited")
`},
			},
			Tests: []Test{test(memberPackage, "TestClaimWaits"), model("ClaimUnawaited")},
		},
		{
			Name: "ClaimPassedOn", Section: "10", Text: "a home honours a claim although a later entry was reported or claimed",
			Rewrites: []Rewrite{{memberClaimFile, `	case a.token.Less(newest.token) || a.token.Less(u.claims.late):
`, `	case (a.token.Less(newest.token) || a.token.Less(u.claims.late)) && !broken("ClaimPassedOn"):
`}},
			Tests: []Test{test(memberPackage, "TestClaimReleased")},
		},
		{
			Name: "ClaimForced", Section: "10", Text: "a home honours a claim although the member that the hold rests on no longer has it",
			Rewrites: []Rewrite{{memberClaimFile, `	case known && !rests:
`, `	case known && !rests && !broken("ClaimForced"):
`}},
			Tests: []Test{test(memberPackage, "TestClaimReleased")},
		},
		{
			Name: "ClaimInside", Section: "10", Text: "a member that is inside a lock does not refuse to claim it",
			Rewrites: []Rewrite{{memberClaimFile, `	if u.taken() && !u.falselyBefore(t) || was != nil`, `	if u.taken() && !u.falselyBefore(t) && !broken("ClaimInside") || was != nil`}},
			Tests:    []Test{test(memberPackage, "TestClaimInside"), model("ClaimInside")},
		},
		{
			Name: "ClaimHigher", Section: "10", Text: "a home honours a claim with a higher token than was reported",
			Rewrites: []Rewrite{{ownerFile, ` && t.Count <= h.last`, ` && (t.Count <= h.last || broken("ClaimHigher"))`}},
			Tests:    []Test{test(memberPackage, "TestForgedClaim")},
		},
		{
			Name: "ClaimOfAnother", Section: "10", Text: "a home honours the claim of another identity than was reported",
			Rewrites: []Rewrite{{ownerFile, `h.who == who && `, `(h.who == who || broken("ClaimOfAnother")) && `}},
			Tests:    []Test{test(memberPackage, "TestForgedClaim")},
		},
		{
			Name: "ClaimOfProcess", Section: "10", Text: "a client claims what the process of a member holds itself",
			Rewrites: []Rewrite{{ownerFile, `return h.client && `, `return (h.client || broken("ClaimOfProcess")) && `}},
			Tests:    []Test{test(memberPackage, "TestForgedClaimOfProcess")},
		},
		{
			Name: "ClaimThroughUnknown", Section: "10", Text: "a home honours a claim through a process that was never a member",
			Rewrites: []Rewrite{{memberClaimFile, `!e.mayHold(through[len(through)-1]) {`, `!e.mayHold(through[len(through)-1]) && !broken("ClaimThroughUnknown") {`}},
			Tests:    []Test{test(memberPackage, "TestClaimThrough")},
		},
		{
			Name: "ClaimsInTheWay", Section: "10", Text: "a member refuses a claim because a claim of another identity waits",
			Rewrites: []Rewrite{{memberClaimFile, `if w.client.who == who {`, `if w.client.who == who || broken("ClaimsInTheWay") {`}},
			Tests:    []Test{test(memberPackage, "TestForgedClaimInTheWay")},
		},
		{
			Name: "ClaimUnreported", Section: "10", Text: "a claimed hold is not reported in later views",
			Tests: []Test{test(memberPackage, "TestClaimCarried"), model("ClaimUnreported")},
		},
		{
			Name: "ReleasedForAll", Section: "10", Text: "RELEASED from one member counts for all through which a client holds the lock",
			Rewrites: []Rewrite{{memberClaimFile, `	if place := e.place(e.view.Members[rank].Inc); place >= 0 {
`, `	if broken("ReleasedForAll") {
		u.held = set{}
		if u.claims != nil {
			u.claims.by = 0
		}
	}
	if place := e.place(e.view.Members[rank].Inc); place >= 0 {
`}},
			Tests: []Test{test(memberPackage, "TestClaim"), model("ReleasedForAll")},
		},
		{
			Name: "NoProof", Section: "10", Text: "a member passes on what a client held although it may have been evicted",
			Rewrites: []Rewrite{{memberFile, `		case !u.client || u.proof > 0`, `		case !u.client || broken("NoProof") || u.proof > 0`}},
			Tests:    []Test{model("NoProof")},
		},
		{
			Name: "StrikesReported", Section: "7", Text: "a witness strikes out a member that has reported the lock", With: "ClaimTestifies",
			Rewrites: []Rewrite{{homeFile, `		left[i] &= ^e.over[i] & (u.held[i] | u.may[i] & ^e.reported[i])
`, `		if broken("StrikesReported") {
			left[i] &= ^e.over[i] & u.may[i] & (u.held[i] | ^e.reported[i])
			continue
		}
		left[i] &= ^e.over[i] & (u.held[i] | u.may[i] & ^e.reported[i])
`}},
			Tests: []Test{model("StrikesReported")},
		},
		{
			Name: "OlderTestifies", Section: "7", Text: "a witness through which a client holds the lock since an older view says that no other process is inside",
			Rewrites: []Rewrite{{witnessFile, `if u.shared || u.byClaim || u.client && u.token.Epoch != f.view.Epoch {`, `if u.shared || u.byClaim && !broken("ClaimTestifies") || u.client && u.token.Epoch != f.view.Epoch && !broken("OlderTestifies") {`}},
			Tests:    []Test{model("OlderTestifies")},
		},
		{
			Name: "ClaimTestifies", Section: "7", Text: "a witness with a claimed hold says that no other process is inside",
			Tests: []Test{test(memberPackage, "TestClaimProvesNothing"), model("ClaimTestifies")},
		},
		{
			Name: "WitnessForgetsClaims", Section: "7", Text: "a witness that was home does not name the members whose claims it has honoured",
			Rewrites: []Rewrite{{witnessFile, `	if u.claims != nil {
`, `	if u.claims != nil && !broken("WitnessForgetsClaims") {
`}},
			Tests: []Test{model("WitnessForgetsClaims")},
		},
	}
}
