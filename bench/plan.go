package main

import "time"

// The times that a run needs for other things than measurements, on two cores with nothing
// else to do, rounded up.
const (
	timeBuild   = 120 * time.Second // stile, etcd and this program, when nothing is built yet
	timeStart   = 15 * time.Second  // all servers, at the same time
	timeClient  = 5 * time.Millisecond
	timeClose   = 3 * time.Second // all clients of a workload
	timeSample  = 50 * time.Millisecond
	timeMemory  = 30 * time.Second // one round, with servers started anew
	timeWatched = 5 * time.Second  // opening, and closing or restarting, in a failover
)

// length returns how long a run takes at most, unless measurements fail. Repeated
// measurements are in it.
func length(s *selection, o *options) time.Duration {
	sum := timeBuild
	one := warmRound + time.Duration(o.seconds*float64(time.Second)) + timeSample
	var speed, failover bool
	for _, w := range s.workloads {
		rounds := time.Duration(o.rounds)
		switch w.sort {
		case sortSpeed:
			speed = true
			turns := 0
			if w.Name == limitsWorkload {
				turns = len(limits)
			}
			for _, e := range s.entrants {
				if w.runs(e) {
					turns++
					sum += time.Duration(w.load.Clients) * timeClient
				}
			}
			sum += time.Duration(turns)*(warmUp+rounds*one) + timeClose
		case sortIdle:
			speed = true
			sum += idleSettles + rounds*idleLength(o)
		case sortMemory:
			sum += rounds * timeMemory
		case sortFailover:
			failover = true
			// Those that never recover make it as long as this.
			sum += rounds * (timeWatched + outageLimit + afterRestart)
		}
	}
	if speed {
		sum += timeStart + repeatsInAll*one
	}
	if failover {
		sum += timeStart
	}
	return sum
}
