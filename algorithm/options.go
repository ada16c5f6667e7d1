package algorithm

// Options are what some algorithms can be told. The zero value leaves every
// choice to the algorithm.
type Options struct {
	Topology    string // quorums: grid, plane, majority; trees: tree:K, star, line or edges 1-2,1-3; sanders: an instance; chang-roberts: up, down
	Sets        string // quorums, or request sets, by hand: 1:1,2;2:1,2,3;3:1,3
	Inform      string // inform sets by hand
	K           int    // how many values a variable has, where there is such a bound
	Coordinator int    // the process that coordinates, from 1
	Experiment  bool   // sanders: run sets that break the rules, too
	Patience    int    // of a lock such as central+bully: how long one waits before it doubts, in units of the longest latency; 0 means for ever
}
