package algorithm

// Options are the settings that some algorithms accept. The zero value leaves every
// choice to the algorithm.
type Options struct {
	Topology    string // quorums: grid, plane, majority; trees: tree:K, star, line or edges 1-2,1-3; sanders: an instance; chang-roberts: up, down
	Sets        string // quorums, or request sets, given by hand: 1:1,2;2:1,2,3;3:1,3
	Inform      string // inform sets, given by hand
	K           int    // number of values of a variable, where there is such a bound
	Coordinator int    // the coordinating process, from 1
	Experiment  bool   // sanders: whether to run sets that break the rules
	Patience    int    // locks such as central+bully: how long a process waits before it doubts, in units of the longest latency; 0 means forever
}
