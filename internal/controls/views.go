package controls

// Source files of the view service.
const (
	answersFile  = "internal/views/answers.go"
	applyFile    = "internal/views/apply.go"
	complainFile = "internal/views/complain.go"
	hearFile     = "internal/views/hear.go"
	joinFile     = "internal/views/join.go"
	proposeFile  = "internal/views/propose.go"
	renewFile    = "internal/views/renew.go"
	leaderFile   = "internal/views/leader.go"
)

// engineControls breaks rules about the view service.
func engineControls() []Control {
	found := test(enginePackage, "TestStorm")
	return []Control{
		{
			Name: "LastGhosts", Section: "2", Text: "a view names only the ghosts that it makes",
			Rewrites: []Rewrite{{proposeFile, `		add(g.id, g.at)
`, `		if !broken("LastGhosts") {
			add(g.id, g.at)
		}
`}},
			Tests: []Test{storm("steady", 100), found},
		},
		{
			Name: "Readmit", Section: "2", Text: "an evicted incarnation joins again",
			Rewrites: []Rewrite{
				{hearFile, `	default:
		if votes {
`, `	case broken("Readmit") && w.leads:
		w.readmit(from, m)
	default:
		if votes {
`},
				{joinFile, `	case r.isGhost(m.Nonce): //`, `	case r.isGhost(m.Nonce) && !broken("Readmit"): //`},
				{joinFile, `// against returns the reason`, `func (w *Leader) readmit(from string, m *Message) {
	i := slices.IndexFunc(w.record.Ghosts, func(g Ghost) bool { return g.Inc == m.Inc })
	if i < 0 {
		return
	}
	all := []uint64{}
	for _, o := range w.record.Members {
		all = append(all, o.Inc)
	}
	w.joiners = append(w.joiners, joiner{Joiner{Name: from, Address: from, Nonce: w.record.Ghosts[i].Nonce}, all, w.now})
}

// against returns the reason`},
				{applyFile, `		if k := r.voter(j.Voter); k >= 0 && !slices`, `		if i := slices.IndexFunc(r.Ghosts, func(g Ghost) bool { return g.Nonce == m.Nonce }); i >= 0 && broken("Readmit") {
			m.Inc = r.Ghosts[i].Inc
			r.Ghosts = slices.Delete(r.Ghosts, i, i+1)
		}
		if k := r.voter(j.Voter); k >= 0 && !slices`},
			},
			Tests: []Test{storm("steady", 100), found},
		},
		{
			Name: "NoMargin", Section: "8", Text: "the service counts leases without a margin for drift",
			Rewrites: []Rewrite{{leaderFile, `func (w *Leader) patience() member.Instant {
`, `func (w *Leader) patience() member.Instant {
	if broken("NoMargin") {
		return member.Instant(w.record.Settings.Lease)
	}
`}},
			Tests: []Test{storm("edge", 400), found},
		},
		{
			Name: "NoRound", Section: "17", Text: "renewals are confirmed without a majority",
			Rewrites: []Rewrite{{renewFile, `	w.read(request{from: from, inc: m.Inc, number: m.Number})
`, `	if x := (request{from: from, inc: m.Inc, number: m.Number}); broken("NoRound") {
		w.answer(&x)
	} else {
		w.read(x)
	}
`}},
			Tests: []Test{storm("reigns", 100), found},
		},
		{
			Name: "NoReads", Section: "17", Text: "questions for the record are answered without a majority",
			Rewrites: []Rewrite{{hearFile, `		w.read(request{from: from, number: m.Number})
`, `		if x := (request{from: from, number: m.Number}); broken("NoReads") {
			w.answer(&x)
		} else {
			w.read(x)
		}
`}},
			Tests: []Test{storm("curiosity", 600)},
		},
		{
			Name: "KeptLeases", Section: "17", Text: "a new leader counts leases from what it last knew",
			Rewrites: []Rewrite{
				{leaderFile, `	*w = Leader{Out: w.Out, self`, `	old := *w
	*w = Leader{Out: w.Out, self`},
				{leaderFile, `		if m.Voter != 0 && m.Voter == former.id {
`, `		if broken("KeptLeases") {
			s.until = old.until(m.Inc)
		}
		if m.Voter != 0 && m.Voter == former.id {
`},
			},
			Tests: []Test{storm("reigns", 200), found},
		},
		{
			Name: "LostGhosts", Section: "17", Text: "a new leader forgets the ghosts of the record",
			Rewrites: []Rewrite{{leaderFile, `		w.ghosts = append(w.ghosts, timed{g.Inc, until})
`, `		if !broken("LostGhosts") {
			w.ghosts = append(w.ghosts, timed{g.Inc, until})
		}
`}},
			Tests: []Test{storm("reigns", 200), found},
		},
		{
			Name: "ResurrectsGhosts", Section: "17", Text: "a new leader begins the ghosts of the record anew", With: "GhostsAnew",
			Rewrites: []Rewrite{{leaderFile, `		if w.took > 0 {
`, `		if w.took > 0 && !broken("ResurrectsGhosts") {
`}},
			Tests: []Test{storm("reigns", 200), test(enginePackage, "TestGhostsRestOnce"), test(processPackage, "TestOldGhostsDelayNoClaim")},
		},
		{
			Name: "TestifiedBack", Section: "17", Text: "a change in flight begins a ghost anew that has been testified for",
			Rewrites: []Rewrite{{joinFile, `			w.ghosts[i].at = min(w.ghosts[i].at, w.now)`, `			if w.ghosts[i].at = min(w.ghosts[i].at, w.now); broken("TestifiedBack") {
				w.ghosts = slices.Delete(w.ghosts, i, i+1)
			}`}},
			Tests: []Test{test(enginePackage, "TestTestimonyInFlight")},
		},
		{
			Name: "EarlyGhosts", Section: "17", Text: "a new leader counts ghosts from when it applied an older record",
			Rewrites: []Rewrite{{leaderFile, `	w.record, w.bytes, w.took = r, r.AppendTo(nil), w.now
`, `	if w.record, w.bytes = r, r.AppendTo(nil); w.took == 0 || !broken("EarlyGhosts") {
		w.took = w.now
	}
`}},
			Tests: []Test{storm("reigns", 200), test(enginePackage, "TestGhostsRestOnce")},
		},
		{
			Name: "KeptQueue", Section: "17", Text: "a new leader keeps the joiners of an older term",
			Rewrites: []Rewrite{
				{leaderFile, `	if len(w.list) > len(r.staying()) ||`, `	if broken("KeptQueue") {
		w.joiners = old.joiners
	}
	if len(w.list) > len(r.staying()) ||`},
				{joinFile, `	w.joiners = slices.DeleteFunc(w.joiners, func(j joiner) bool { return j.heard < silent })
`, `	if !broken("KeptQueue") {
		w.joiners = slices.DeleteFunc(w.joiners, func(j joiner) bool { return j.heard < silent })
	}
`},
			},
			Tests: []Test{found},
		},
		{
			Name: "NoComplaint", Section: "5", Text: "complaints about broken links are ignored",
			Rewrites: []Rewrite{{complainFile, `	for _, a := range about {
		if a == inc`, `	if broken("NoComplaint") {
		return
	}
	for _, a := range about {
		if a == inc`}},
			Tests: []Test{storm("usual", 400), found},
		},
		{
			Name: "NoReach", Section: "17", Text: "a joiner need not reach the members",
			Rewrites: []Rewrite{{joinFile, `!slices.Contains(j.reached, m.Inc) {`, `!slices.Contains(j.reached, m.Inc) && !broken("NoReach") {`}},
			Tests:    []Test{found, test(enginePackage, "TestJoining")},
		},
		{
			Name: "HastyGone", Section: "17", Text: "a lagging voter reports to a member of a newer view that it is evicted",
			Rewrites: []Rewrite{{hearFile, `	case r.Cluster != 0 && r.out(m.Inc):
`, `	case r.Cluster != 0 && r.out(m.Inc) || broken("HastyGone") && r.Rank(m.Inc) < 0:
`}},
			Tests: []Test{found, test(enginePackage, "TestStaleVoter")},
		},
		{
			Name: "NoBase", Section: "17", Text: "a change is applied in any epoch",
			Rewrites: []Rewrite{{applyFile, `	if x.Base != r.Epoch {`, `	if x.Base != r.Epoch && !broken("NoBase") {`}},
			Tests:    []Test{found, test(enginePackage, "TestVoid")},
		},
		{
			Name: "NoTerm", Section: "17", Text: "a change of an earlier leader is applied in a later term",
			Rewrites: []Rewrite{{applyFile, `x.Term != term && x.Start == nil {`, `x.Term != term && x.Start == nil && !broken("NoTerm") {`}},
			Tests:    []Test{test(enginePackage, "TestTermOfAnEntry"), test(enginePackage, "TestVoid")},
		},
		{
			Name: "RenewsDoomed", Section: "17", Text: "a member is renewed while its eviction is in flight",
			Rewrites: []Rewrite{
				{renewFile, `s.leaves || w.doomed(m.Inc) ||`, `s.leaves || w.doomed(m.Inc) && !broken("RenewsDoomed") ||`},
				{renewFile, `s.leaves || w.doomed(x.inc) {`, `s.leaves || w.doomed(x.inc) && !broken("RenewsDoomed") {`},
			},
			Tests: []Test{found, test(enginePackage, "TestDoomedAreNotRenewed")},
		},
		{
			Name: "Rebuilds", Section: "17", Text: "a proposal that timed out is replaced by another one",
			Rewrites: []Rewrite{{proposeFile, `	if w.flying != nil {
`, `	if broken("Rebuilds") && w.now-w.proposed >= member.Instant(s.Renew) {
		w.flying = nil
	}
	if w.flying != nil {
`}},
			Tests: []Test{test(enginePackage, "TestDoomedAreNotRenewed"), test(enginePackage, "TestReplicaProposes")},
		},
		{
			Name: "ProposesAgain", Section: "17", Text: "a change that the log has is proposed again and again",
			Rewrites: []Rewrite{{proposeFile, `!w.appended && w.now`, `(!w.appended || broken("ProposesAgain")) && w.now`}},
			Tests:    []Test{test(enginePackage, "TestProposedOnceInATerm"), test(enginePackage, "TestReplicaProposes"), test(processPackage, "TestSlowDisksEvict")},
		},
		{
			Name: "DropsAll", Section: "17", Text: "a leaver and the member that it complains about are both removed",
			Rewrites: []Rewrite{
				{proposeFile, `		if mercy == silent {`, `		if mercy == silent || broken("DropsAll") {`},
				{proposeFile, `		return s.leaves || slices.Contains(drop, inc)
`, `		return !broken("DropsAll") && (s.leaves || slices.Contains(drop, inc))
`},
			},
			Tests: []Test{test(enginePackage, "TestLeaverAndAccuser")},
		},
		{
			Name: "NoGrace", Section: "17", Text: "a leader that was paused treats all others as silent",
			Rewrites: []Rewrite{{leaderFile, `stood > renew {`, `stood > renew && !broken("NoGrace") {`}},
			Tests:    []Test{test(enginePackage, "TestGrace")},
		},
		{
			Name: "LeavesVote", Section: "17", Text: "a leaver stops while its vote is needed",
			Rewrites: []Rewrite{{answersFile, `	case p.phase == leaving && !p.stops && r.voter(p.config.Voter) >= 0:
`, `	case p.phase == leaving && !p.stops && r.voter(p.config.Voter) >= 0 && !broken("LeavesVote"):
`}},
			Tests: []Test{test(processPackage, "TestVoterComesAndGoes")},
		},
	}
}
