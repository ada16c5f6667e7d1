package controls

// Source files of the log and its disk.
const (
	changeFile = "internal/views/raft/change.go"
	diskFile   = "internal/views/raft/disk.go"
	flushFile  = "internal/views/raft/flush.go"
	mediumFile = "internal/views/raft/medium.go"
	mendFile   = "internal/views/raft/mend.go"
	nodeFile   = "internal/views/raft/node.go"
)

// raftControls breaks rules about the log and its disk.
func raftControls() []Control {
	found := test(raftPackage, "TestStorm")
	return []Control{
		{
			Name: "NoSync", Section: "18", Text: "a disk promises what it has not written",
			Rewrites: []Rewrite{{mediumFile, `	left := m.cache[:0] //`, `	if broken("NoSync") {
		return nil
	}
	left := m.cache[:0] //`}},
			Tests: []Test{storm("power", 200), found, test(raftPackage, "TestSaved"), test(raftPackage, "TestCrashPoints")},
		},
		{
			Name: "SavesUnsynced", Section: "18", Text: "a voter does not wait for its disk",
			Rewrites: []Rewrite{{diskFile, `	return d.medium.sync()
`, `	if broken("SavesUnsynced") {
		return nil
	}
	return d.medium.sync()
`}},
			Tests: []Test{found, test(raftPackage, "TestSaved"), test(raftPackage, "TestCrashPoints")},
		},
		{
			Name: "LoadsUnsynced", Section: "18", Text: "a voter relies on what it has read and not made durable",
			Rewrites: []Rewrite{{mendFile, `	if d.length == 0 {
		return nil
	}
	d.medium.cache`, `	if d.length == 0 || broken("LoadsUnsynced") {
		return nil
	}
	d.medium.cache`}},
			Tests: []Test{test(raftPackage, "TestCrashPoints")},
		},
		{
			Name: "LoadsAside", Section: "18", Text: "a voter makes durable what it has read by writing the other file, which may be the only good one",
			Rewrites: []Rewrite{{mendFile, `	if err := d.settle(); err != nil {
`, `	if broken("LoadsAside") {
		if d.state.ID == 0 {
			return State{}, nil
		}
		if err := d.begin(); err != nil {
			return State{}, err
		}
		return d.state, d.medium.sync()
	}
	if err := d.settle(); err != nil {
`}},
			Tests: []Test{test(raftPackage, "TestCrashPoints")},
		},
		{
			Name: "ErasesInOrder", Section: "18", Text: "erasing a disk may bring back an older state",
			Rewrites: []Rewrite{{diskFile, `	for _, file := range [...]int{1 - last, last} {
`, `	files := [...]int{1 - last, last}
	if broken("ErasesInOrder") {
		files = [...]int{0, 1}
	}
	for _, file := range files {
`}},
			Tests: []Test{test(raftPackage, "TestErase")},
		},
		{
			Name: "ForgetsVote", Section: "18", Text: "a voter does not save its vote",
			Rewrites: []Rewrite{{flushFile, `	b := Batch{Hard: n.hard}
`, `	b := Batch{Hard: n.hard}
	if broken("ForgetsVote") {
		b.Hard.Vote = 0
	}
`}},
			Tests: []Test{test(raftPackage, "TestVote")},
		},
		{
			Name: "VotesUnsaved", Section: "18", Text: "a voter saves its vote only along with entries",
			Rewrites: []Rewrite{{flushFile, `	must := hard.Term != n.hard.Term || hard.Vote != n.hard.Vote`, `	must := !broken("VotesUnsaved") && (hard.Term != n.hard.Term || hard.Vote != n.hard.Vote)`}},
			Tests:    []Test{test(raftPackage, "TestVote")},
		},
		{
			Name: "ForgetsCommit", Section: "18", Text: "a voter does not save what is committed",
			Rewrites: []Rewrite{{flushFile, `	for _, p := range m.GetEntries() {
		e, err := fromEntry(p)
`, `	if broken("ForgetsCommit") {
		if b.Hard.Commit = n.log.base; b.Snapshot != nil {
			b.Hard.Commit = b.Snapshot.Index
		}
	}
	for _, p := range m.GetEntries() {
		e, err := fromEntry(p)
`}},
			Tests: []Test{found},
		},
		{
			Name: "ForgetsChange", Section: "18", Text: "a change of voters is in force before its commit is saved",
			Rewrites: []Rewrite{{flushFile, `last > n.kept {`, `last > n.kept && !broken("ForgetsChange") {`}},
			Tests:    []Test{test(raftPackage, "TestTwoToOne")},
		},
		{
			Name: "UnloadsToSlow", Section: "18", Text: "a leader with a slow disk hands over to a voter whose disk is as slow",
			Rewrites: []Rewrite{{nodeFile, `		most = n.writes[i].entries[0].GetIndex() - 1 // what its own disk has
`, `		if !broken("UnloadsToSlow") {
			most = n.writes[i].entries[0].GetIndex() - 1
		}
`}},
			Tests: []Test{test(raftPackage, "TestAllDisksAreSlow"), test(processPackage, "TestSlowDisksEvict")},
		},
		{
			Name: "ReadsAlone", Section: "17", Text: "a leader confirms reads without a majority",
			Rewrites: []Rewrite{{nodeFile, `	n.raw().ReadIndex(`, `	if broken("ReadsAlone") {
		n.out.Reads = append(n.out.Reads, number)
		return nil
	}
	n.raw().ReadIndex(`}},
			Tests: []Test{found},
		},
		{
			Name: "NotSettled", Section: "18", Text: "a leader takes a change of voters as settled when it ends",
			Rewrites: []Rewrite{{changeFile, `	switch {
	case s.done:
`, `	s.done = s.done || broken("NotSettled")
	switch {
	case s.done:
`}},
			Tests: []Test{test(raftPackage, "TestGoneTooSoon")},
		},
		{
			Name: "ProposesParting", Section: "18", Text: "a leader proposes entries while voters are removed",
			Rewrites: []Rewrite{{nodeFile, `	if n.parting() {
`, `	if n.parting() && !broken("ProposesParting") {
`}},
			Tests: []Test{test(raftPackage, "TestParting")},
		},
		{
			Name: "GoalMoves", Section: "17", Text: "learners must have what is committed at this moment",
			Rewrites: []Rewrite{{changeFile, `n.goal.term != s.GetTerm() {`, `n.goal.term != s.GetTerm() || broken("GoalMoves") {`}},
			Tests:    []Test{found},
		},
		{
			Name: "SnapshotsLost", Section: "18", Text: "a leader waits forever for a snapshot that was lost",
			Rewrites: []Rewrite{{flushFile, `s.age < n.election {`, `s.age < n.election || broken("SnapshotsLost") {`}},
			Tests:    []Test{found, test(raftPackage, "TestLagging")},
		},
	}
}
