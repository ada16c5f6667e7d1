package deadlock

// Timeout returns the method in which a transaction that has waited for longer than a bound
// aborts. It breaks every deadlock, and also aborts transactions that are in none. If two
// restart together they may time out together, again and again.
func Timeout() Method {
	return Method{
		Name: "timeout", Title: "Timeouts", Family: Detection, Starves: true, Exact: always,
		Paper:  "J. N. Gray: Notes on Data Base Operating Systems. Operating Systems: An Advanced Course, LNCS 60, 1978",
		Weaker: "a transaction that waits for long aborts even if there is no deadlock, and may do so forever", Fixed: "detect-central",
		Shown: "stile replay scenarios/timeout-no-deadlock.stile",
		make:  only(func(*Layout) method { return timeout{} }),
	}
}

// waitBound is the longest wait, in units of a latency.
const waitBound = 16

type timeout struct{ plain }

// asked implements method. The timer of a transaction begins anew with each request.
func (timeout) asked(_ *site, who Attempt, _ int, o *out) { o.SetTimer(who.Tx, waitBound) }

func (timeout) cancelled(_ *site, who Attempt, _ int, o *out) { o.StopTimer(who.Tx) }

func (timeout) expire(s *site, timer int, o *out) {
	if s.atHome(timer) && s.txs[timer].phase == waiting {
		s.doom(timer, nil, o)
	}
}
