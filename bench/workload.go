package main

// The sorts of workloads.
const (
	sortSpeed    = "speed"    // clients acquire and release locks all the time
	sortIdle     = "idle"     // servers at rest
	sortMemory   = "memory"   // many locks, then many waiters
	sortFailover = "failover" // a process is killed or paused
)

// A workload is something that entrants are measured at.
type workload struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
	sort  string
	load  load
}

// A load is what clients do in a workload of speed.
type load struct {
	Clients int
	Names   string // how each client chooses the next lock
	Shared  int    // percentage of holds that are shared
}

// The ways to choose a lock.
const (
	namesOne    = "one"    // one lock for all
	namesOwn    = "own"    // each client has its own
	namesRandom = "random" // any of many
	namesTurn   = "turn"   // many, one after the other
	namesHot    = "hot"    // mostly one of the client's group, sometimes the one lock of all
)

const (
	manyLocks  = 10_000 // locks of namesRandom
	turnLocks  = 1_000  // locks of namesTurn
	heldLocks  = 5_000  // locks held in the memory workload
	waiters    = 256    // clients that wait in the memory workload
	groups     = 4      // groups of clients of namesHot
	groupLocks = 8      // locks of each group
	hotOneIn   = 5      // one in so many holds is of the lock of all
)

// workloads are all workloads, in the order in which they run.
var workloads = []*workload{
	{"uncontended", "Uncontended", "One client acquires and releases the same lock again and again. A node of stile delegates it to the Go client, which then sends no message; the clients of the others send messages each time. The limits are in the same rounds.", sortSpeed, load{1, namesOne, 0}},
	{"other-locks", "Another lock each time", "One client acquires and releases 1,000 locks in turn. Nearly every hold costs messages, with stile as with the others: this row compares like with like.", sortSpeed, load{1, namesTurn, 0}},
	{"clients-2", "2 clients on one lock", "Two clients want one lock all the time.", sortSpeed, load{2, namesOne, 0}},
	{"clients-8", "8 clients on one lock", "Eight clients want one lock all the time.", sortSpeed, load{8, namesOne, 0}},
	{"clients-32", "32 clients on one lock", "32 clients want one lock all the time.", sortSpeed, load{32, namesOne, 0}},
	{"clients-256", "256 clients on one lock", "256 clients want one lock all the time.", sortSpeed, load{256, namesOne, 0}},
	{"locks-32", "32 clients on 32 locks", "Each of 32 clients has a lock of its own.", sortSpeed, load{32, namesOwn, 0}},
	{"locks-10000", "10,000 locks at random", "32 clients acquire any of 10,000 locks.", sortSpeed, load{32, namesRandom, 0}},
	{"hot-spot", "Hot spot with locality", "32 clients in four groups. Four of five holds are of one of eight locks that only the client's group uses; the others are of one lock that all use.", sortSpeed, load{32, namesHot, 0}},
	{"readers", "Readers and writers", "32 clients on one lock. Nineteen of twenty holds are shared. Entrants without shared locks are left out.", sortSpeed, load{32, namesOne, 95}},
	{"readers-only", "Only readers", "32 clients on one lock. All holds are shared, so none waits for another.", sortSpeed, load{32, namesOne, 100}},
	{"idle", "Idle cost", "CPU time of all servers while no client does anything.", sortIdle, load{}},
	{"memory", "Memory", "Growth of the memory of all servers by 5,000 held locks, and by 256 clients that wait for one lock, each with a connection of its own. The servers are started anew for each round.", sortMemory, load{}},
	{"kill-holder", "The holder is killed", "A client holds a lock and is killed with SIGKILL; another one waits for the lock. Leases are 3 seconds, where there are leases.", sortFailover, load{}},
	{"pause-holder", "The holder is paused", "The same, but the holder is stopped with SIGSTOP for longer than its lease.", sortFailover, load{}},
	{"kill-leader", "The leader is killed", "Eight clients of all servers use eight locks. The server that leads, or the only one, is killed. The value is the longest time for which one of the locks was not acquired.", sortFailover, load{}},
	{"kill-follower", "A follower is killed", "The same, for a server that does not lead.", sortFailover, load{}},
}

// runs reports whether an entrant takes part in a workload.
func (w *workload) runs(e *entrant) bool {
	switch {
	case w.sort == sortIdle:
		return e.main || e.Name == "stile-plain"
	case w.sort != sortSpeed:
		return e.main && (w.Name != "kill-follower" || len(replicas[e.servers]) > 1)
	case w.load.Shared > 0:
		return e.prefix == "" && (e.ours || e.kind == kindPostgres || e.kind == kindEtcd)
	}
	return true
}
