package controls

// Source files about stopping and returning.
const (
	processFile = "internal/process/membership.go"
	rosterFile  = "internal/views/roster.go"
	votersFile  = "internal/views/voters.go"
)

// seatControls breaks rules about nodes that stop, return, or are restored.
func seatControls() []Control {
	return []Control{
		{
			Name: "StopLosesVote", Section: "17", Text: "a voter that stops gives up its vote",
			Rewrites: []Rewrite{{hearFile, `	s.heard, s.stops = w.now, m.Stops
`, `	s.heard, s.stops = w.now, m.Stops && !broken("StopLosesVote")
`}},
			Tests: []Test{test(processPackage, "TestStopKeepsSeat")},
		},
		{
			Name: "EarlyMark", Section: "17", Text: "the clean-stop mark is made while a client can still act on a lock",
			Rewrites: []Rewrite{{processFile, `		if p.held() {
			p.refresh()
`, `		if p.held() {
			if broken("EarlyMark") {
				p.remember(memory, views.Past{Cluster: p.asks.Record().Cluster, Epoch: p.view, Stopped: p.asks.Nonce()})
			}
			p.refresh()
`}, {processFile, `	if p.phase == Leaving {
		past.Stopped`, `	if p.phase == Leaving || broken("EarlyMark") && p.stops {
		past.Stopped`}},
			Tests: []Test{test(processPackage, "TestMarkWaitsForClients")}, // in the storm, clients move too fast
		},
		{
			Name: "UnnamedMark", Section: "17", Text: "the clean-stop mark counts for whichever incarnation has the name",
			Rewrites: []Rewrite{{joinFile, `	w.testify(m.Stopped)
`, `	if i := r.named(m.Name); broken("UnnamedMark") && i >= 0 && m.Stopped != 0 {
		w.testify(r.Members[i].Nonce)
	}
	w.testify(m.Stopped)
`}},
			Tests: []Test{test(processPackage, "TestMarkNamesIncarnation")},
		},
		{
			Name: "ForeignMark", Section: "17", Text: "the clean-stop mark of another cluster counts",
			Rewrites: []Rewrite{{"internal/views/membership.go", `past.Cluster == p.cluster() {`, `past.Cluster == p.cluster() || broken("ForeignMark") {`}},
			Tests:    []Test{test(processPackage, "TestMarkNamesIncarnation")},
		},
		{
			Name: "VotersShrink", Section: "17", Text: "there are fewer voters when some are absent for long and another one leaves",
			Rewrites: []Rewrite{{rosterFile, `		n = min(n, len(without(r.voters, gone))+len(r.spares))
`, `		if broken("VotersShrink") {
			gone = append(gone, without(r.overdue, gone)...)
		}
		n = min(n, len(without(r.voters, gone))+len(r.spares))
`}},
			Tests: []Test{test(enginePackage, "TestMayRest"), test(enginePackage, "TestLeaversGo")},
		},
		{
			Name: "ReplacedSoon", Section: "17", Text: "an absent voter is replaced at once",
			Rewrites: []Rewrite{{votersFile, `		case w.now-t.at > member.Instant(w.record.Settings.Replace):
`, `		case w.now-t.at > member.Instant(w.record.Settings.Replace) || broken("ReplacedSoon"):
`}},
			Tests: []Test{test(processPackage, "TestDownVotersStay")},
		},
		{
			Name: "RollbackUnnoticed", Section: "18", Text: "a voter ignores that a leader counts on entries that its disk has lost",
			Rewrites: []Rewrite{{nodeFile, `m.GetType() == pb.MsgHeartbeat && m.GetCommit() > last {
`, `m.GetType() == pb.MsgHeartbeat && m.GetCommit() > last {
		if broken("RollbackUnnoticed") {
			m.Commit = &last
			return
		}
`}},
			Tests: []Test{storm("rollbacks", 40)},
		},
		{
			Name: "OldGeneration", Section: "18", Text: "a process of a lost cluster does not hear that its cluster was recovered",
			Rewrites: []Rewrite{{hearFile, `Newer: slices.Contains(r.Earlier, m.Cluster)})`, `Newer: slices.Contains(r.Earlier, m.Cluster) && !broken("OldGeneration")})`}},
			Tests:    []Test{storm("returns", 40)},
		},
		{
			Name: "NoFloor", Section: "18", Text: "a leader ignores the epochs that others have seen",
			Rewrites: []Rewrite{{hearFile, `	if epoch < maxEpoch/2 {
`, `	if epoch < maxEpoch/2 && !broken("NoFloor") {
`}},
			Tests: []Test{storm("rollbacks", 40), test(processPackage, "TestRollback")},
		},
		{
			Name: "NoSurvey", Section: "18", Text: "a new leader makes a view before the other voters have reported which epochs they have seen",
			Rewrites: []Rewrite{{hearFile, `	return len(others) == 0 ||`, `	return broken("NoSurvey") || len(others) == 0 ||`}},
			Tests:    []Test{test(enginePackage, "TestSurvey")},
		},
	}
}
