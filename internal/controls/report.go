package controls

// reportControls breaks rules about view changes: reports, ghosts, witnesses and loans.
func reportControls() []Control {
	return []Control{
		{
			Name: "StaleReport", Section: "7", Text: "a report lacks what was entered just before the view change",
			Rewrites: []Rewrite{{epochFile, `			u.owed |= owedHold
`, `			if (!broken("StaleReport") || m.now-u.since > Instant(m.Settings.Lease/8)) && !(broken("LoanUnreported") && was.lent) && !(broken("ExpiredUnreported") && was.lapsed) && !(broken("ClaimUnreported") && was.byClaim) && !(broken("DelegatedUnreported") && was.block != nil) {
				u.owed |= owedHold
			}
`}},
			Tests: []Test{storm("usual", 50), model("StaleReport")},
		},
		{
			Name: "ReportsPending", Section: "4", Text: "a grant without a lease is reported as held",
			Rewrites: []Rewrite{{epochFile, `		}
		for was.first != nil {
`, `		} else if was.inside && broken("ReportsPending") {
			u.owed |= owedHold
		}
		for was.first != nil {
`}},
			Tests: []Test{test(memberPackage, "TestPending"), model("ReportsPending")},
		},
		{
			Name: "NoReports", Section: "7", Text: "the home waits for no report",
			Rewrites: []Rewrite{
				{epochFile, `	e.bury(m.now)
	return e, nil
`, `	if broken("NoReports") {
		e.reported = firstOf(e.survivors())
	}
	e.bury(m.now)
	return e, nil
`},
				{deliverFile, `m.epoch.reported.has(place) {`, `m.epoch.reported.has(place) && !broken("NoReports") && !broken("FirstPart") {`},
			},
			Tests: []Test{storm("usual", 50), model("NoReports")},
		},
		{
			Name: "MostReports", Section: "7", Text: "the home waits for the reports of a majority",
			Rewrites: []Rewrite{{homeFile, `	left := e.everybody
`, `	if broken("MostReports") && 2*e.reported.len() > len(e.view.Members) {
		most := *e
		most.reported = firstOf(e.survivors())
		e = &most
	}
	left := e.everybody
`}},
			Tests: []Test{storm("usual", 50), model("MostReports")},
		},
		{
			Name: "FirstPart", Section: "6", Text: "a report counts when its first part has come",
			Rewrites: []Rewrite{
				{homeFile, `	if !f.more {
`, `	if !f.more || broken("FirstPart") {
`},
				{deliverFile, `	if !f.more { // until`, `	if !f.more || broken("FirstPart") { // until`},
			},
			Tests: append(rule("FirstPart"), test(memberPackage, "TestFirstPart")),
		},
		{
			Name: "NotOnBehalf", Section: "7", Text: "the home does not stay inside for reported holders",
			Rewrites: []Rewrite{{homeFile, `	for i := range left { // no witness`, `	if broken("NotOnBehalf") {
		alone := *u
		alone.held = set{}
		u = &alone
	}
	for i := range left { // no witness`}},
			Tests: []Test{storm("usual", 50), model("NotOnBehalf")},
		},
		{
			Name: "NoReleased", Section: "6", Text: "the release of a carried-over hold is not reported",
			Rewrites: []Rewrite{{useFile, `		} else {
			m.send(home, &frame{kind: releasedFrame`, `		} else if !broken("NoReleased") {
			m.send(home, &frame{kind: releasedFrame`}},
			Tests: []Test{storm("usual", 50), model("NoReleased")},
		},
		{
			Name: "NoGhosts", Section: "7", Text: "the home does not wait for the leases of evicted members",
			Rewrites: []Rewrite{{epochFile, `	for _, g := range v.Ghosts {
`, `	for _, g := range v.Ghosts {
		if broken("NoGhosts") || broken("LastChangeGhosts") && !slices.Contains(v.Before, g.Inc) {
			g.Rest = 0
		}
`}},
			Tests: []Test{storm("usual", 50), model("NoGhosts")},
		},
		{
			Name: "NoLendee", Section: "7", Text: "a witness forgets the member that it had lent to",
			Rewrites: []Rewrite{{witnessFile, `	if u.lendee >= 0 {
`, `	if u.lendee >= 0 && !broken("NoLendee") {
`}},
			Tests: []Test{storm("usual", 50), model("NoLendee")},
		},
		{
			Name: "CountClears", Section: "7", Text: "a lock that was entered counts as cleared",
			Rewrites: []Rewrite{{witnessFile, `	case n >= 0 && f.table.lock(n).is(cleared):
`, `	case n >= 0 && (f.table.lock(n).is(cleared) || broken("CountClears") && f.table.lock(n).count > 0):
`}},
			Tests: []Test{model("CountClears")},
		},
		{
			Name: "AnyWitness", Section: "7", Text: "a member that was not in the previous view testifies",
			Rewrites: []Rewrite{{witnessFile, `f.view.Epoch != e.view.BeforeEpoch {`, `f.view.Epoch != e.view.BeforeEpoch && !broken("AnyWitness") {`}},
			Tests:    []Test{test(memberPackage, "TestWitness"), model("AnyWitness")},
		},
		{
			Name: "UntouchedProves", Section: "7", Text: "a lock that the old home did not know counts as free",
			Rewrites: []Rewrite{{witnessFile, `	case home && (n < 0 || !f.table.lock(n).is(cleared)):
`, `	case home && n < 0 && broken("UntouchedProves"):
		return set{}
	case home && (n < 0 || !f.table.lock(n).is(cleared)):
`}},
			Tests: []Test{storm("skips", 400), model("UntouchedProves")},
		},
		{
			Name: "LapsedDenied", Section: "7", Text: "a witness forgets its own hold that is lost and not yet passed on", With: "StrikesReported",
			Rewrites: []Rewrite{{witnessFile, `u != nil && u.carried {`, `u != nil && u.carried && !(u.lapsed && broken("LapsedDenied")) {`}},
			Tests:    []Test{test(memberPackage, "TestLapsedWitness"), model("LapsedDenied")},
		},
		{
			Name: "NoAnswers", Section: "6", Text: "the home ignores ANSWER",
			Rewrites: []Rewrite{{deliverFile, `		return m.heard(f.may)
`, `		if broken("NoAnswers") {
			return nil
		}
		return m.heard(f.may)
`}},
			Tests: []Test{test(memberPackage, "TestWitness")},
		},
		{
			Name: "NoOrder", Section: "7", Text: "the home does not lend",
			Rewrites: []Rewrite{{homeFile, `		case e.isHome(e.table.lock(n)):
`, `		case e.isHome(e.table.lock(n)) && !broken("NoOrder"):
`}},
			Tests: []Test{storm("usual", 50), model("NoOrder")},
		},
		{
			Name: "LeftInOrder", Section: "7", Text: "a loan that no waiter wants is kept",
			Rewrites: []Rewrite{{useFile, `	u.lent, u.handed = false, 0
`, `	if u.first == nil && u.handed == 0 && broken("LeftInOrder") {
		return
	}
	u.lent, u.handed = false, 0
`}},
			Tests: []Test{storm("waves", 400), model("LeftInOrder")},
		},
		{
			Name: "NoDone", Section: "6", Text: "a member that reports late is not notified to use the algorithm",
			Rewrites: []Rewrite{{homeFile, `		default:
			m.send(rank, &frame{kind: doneFrame`, `		case !broken("NoDone"):
			m.send(rank, &frame{kind: doneFrame`}},
			Tests: []Test{test(memberPackage, "TestDone"), model("NoDone")},
		},
		{
			Name: "AskOnce", Section: "7", Text: "waiters do not ask again in the next view",
			Rewrites: []Rewrite{{epochFile, `	u.owed |= owedWait
`, `	if !broken("AskOnce") {
		u.owed |= owedWait
	}
`}},
			Tests: []Test{storm("usual", 50), model("AskOnce")},
		},
	}
}
