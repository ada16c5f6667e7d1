package controls

// rule is the test of lab/internal/viewmodel that has a small setting for a rule.
func rule(name string) []Test { return []Test{test(viewsPackage, "TestRules/"+name)} }

// carriedControls breaks rules about ghosts, expired leases and homes that enter on
// their own. Rewrites of LastChangeGhosts, LoanUnreported and ExpiredUnreported are part
// of NoGhosts and StaleReport, and that of GhostsSkipped of GhostsAnew.
func carriedControls() []Control {
	return []Control{
		{
			Name: "LastChangeGhosts", Section: "2", Text: "a member counts only the ghosts of the last view change",
			Tests: rule("LastChangeGhosts"),
		},
		{
			Name: "GhostsAnew", Section: "7", Text: "a member counts the rest of a ghost anew in each view that names it",
			Rewrites: []Rewrite{{epochFile, `old != nil && old.view.Epoch == v.BeforeEpoch {`, `old != nil && (old.view.Epoch == v.BeforeEpoch || broken("GhostsSkipped")) && !broken("GhostsAnew") {`}},
			Tests:    []Test{test(memberPackage, "TestGhostsRestOnce"), test(memberPackage, "TestGhostStaysOver")},
		},
		{
			Name: "GhostsSkipped", Section: "7", Text: "a member that has skipped a view counts a ghost's rest from an older one",
			Tests: []Test{test(memberPackage, "TestGhostsRestOnce")},
		},
		{
			Name: "WitnessForgetsGhosts", Section: "7", Text: "a witness that was home does not name the ghosts that it suspected",
			Rewrites: []Rewrite{{witnessFile, `		may = may.or(e.those(f.universe[i]))
`, `		if i < f.survivors() || !broken("WitnessForgetsGhosts") {
			may = may.or(e.those(f.universe[i]))
		}
`}},
			Tests: rule("WitnessForgetsGhosts"),
		},
		{
			Name: "WitnessEndsGhosts", Section: "7", Text: "a witness that was home takes the leases of ghosts to have expired",
			Rewrites: []Rewrite{{witnessFile, `	f.bury(m.now)
`, `	if f.bury(m.now); broken("WitnessEndsGhosts") {
		f.bury(Never)
	}
`}},
			Tests: rule("WitnessEndsGhosts"),
		},
		{
			Name: "GhostsStay", Section: "7", Text: "a ghost is suspected after its lease has expired",
			Rewrites: []Rewrite{{homeFile, `	return left
`, `	for i := range left {
		if broken("GhostsStay") {
			left[i] |= u.may[i] & e.over[i]
		}
	}
	return left
`}},
			Tests: rule("GhostsStay"),
		},
		{
			Name: "LoanUnreported", Section: "6", Text: "a hold by a loan is not reported in the next view",
			Tests: rule("LoanUnreported"),
		},
		{
			Name: "WitnessDeniesExpired", Section: "7", Text: "a witness with a hold that the lease has lost says that no process is inside", With: "StrikesReported",
			Rewrites: []Rewrite{{witnessFile, `			return e.those(m.Inc)
`, `			if broken("WitnessDeniesExpired") && u.lapsed {
				return set{}
			}
			if !broken("WitnessForgetsOwn") {
				return e.those(m.Inc)
			}
`}},
			Tests: rule("WitnessDeniesExpired"),
		},
		{
			Name: "WitnessForgetsOwn", Section: "7", Text: "a witness does not count its own hold", With: "StrikesReported",
			Tests: rule("WitnessForgetsOwn"),
		},
		{
			Name: "ExpiredUnreported", Section: "8", Text: "a hold that the lease has lost is not reported",
			Tests: rule("ExpiredUnreported"),
		},
		{
			Name: "ExpiredNotCarried", Section: "8", Text: "a hold that the lease has lost is not carried to the next view",
			Rewrites: []Rewrite{
				{epochFile, `was == nil || !was.taken() && was.first == nil && (was.claims == nil || len(was.claims.mine) == 0) {`, `was == nil || (!was.taken() || broken("ExpiredNotCarried") && was.lapsed) && was.first == nil && (was.claims == nil || len(was.claims.mine) == 0) {`},
				{epochFile, `		if was.taken() {
`, `		if was.taken() && !(broken("ExpiredNotCarried") && was.lapsed) {
`},
			},
			Tests: rule("ExpiredNotCarried"),
		},
		{
			Name: "ExpiredIdle", Section: "8", Text: "a lock is forgotten if its only hold here was lost with the lease",
			Rewrites: []Rewrite{{epochFile, `	if u.taken() || u.first != nil || u.asked`, `	if u.taken() && !(broken("ExpiredIdle") && u.lapsed) || u.first != nil || u.asked`}},
			Tests:    rule("ExpiredIdle"),
		},
		{
			Name: "ExpiredNotReleased", Section: "8", Text: "no RELEASED is sent for a carried hold that the lease has lost",
			Rewrites: []Rewrite{{useFile, `		e.lapses--
`, `		e.lapses--
		u.carried = u.carried && !broken("ExpiredNotReleased")
`}},
			Tests: rule("ExpiredNotReleased"),
		},
		{
			Name: "ExpiredAtHome", Section: "8", Text: "a home lets others enter beside its own hold that the lease has lost",
			Rewrites: []Rewrite{{useFile, `	case u.taken():
`, `	case u.taken() && !(broken("ExpiredAtHome") && u.lapsed):
`}},
			Tests: rule("ExpiredAtHome"),
		},
		{
			Name: "PassAtRenewal", Section: "8", Text: "a lost lock is passed on when the lease is renewed",
			Rewrites: []Rewrite{{memberFile, `		case m.now < u.rests:
`, `		case m.now < u.rests && !broken("PassAtRenewal"):
`}},
			Tests: rule("PassAtRenewal"),
		},
		{
			Name: "WitnessForgetsReported", Section: "7", Text: "a witness that was home does not name those that reported a hold to it",
			Rewrites: []Rewrite{{witnessFile, `	var may set
	for _, i := range m.suspects(f, u).list() {
`, `	var may set
	named := u
	if broken("WitnessForgetsReported") {
		named = &use{may: u.may}
	}
	for _, i := range m.suspects(f, named).list() {
`}},
			Tests: rule("WitnessForgetsReported"),
		},
		{
			Name: "CarriedOnce", Section: "7", Text: "a hold is not carried through a second view change",
			Rewrites: []Rewrite{{epochFile, `was.token, was.since, true
`, `was.token, was.since, !(broken("CarriedOnce") && was.carried)
`}},
			Tests: rule("CarriedOnce"),
		},
		{
			Name: "LastPart", Section: "6", Text: "only the last part of a REPORT counts",
			Rewrites: []Rewrite{{homeFile, `	for _, x := range f.held {
`, `	for _, u := range e.uses {
		if u != nil && broken("LastPart") {
			u.held.drop(place)
		}
	}
	for _, x := range f.held {
`}},
			Tests: rule("LastPart"),
		},
	}
}
