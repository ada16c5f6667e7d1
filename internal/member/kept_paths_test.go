package member

import "testing"

// A path of waiting transactions may arrive before the request that it ends with: homes
// push it as soon as one member has reported. The deadlock is still found.
func TestPathBeforeRequest(t *testing.T) {
	for late := range 2 {
		f := newKeptFleet(t, "detect-distributed", 4)
		names := []string{f.at(0), f.at(1)}
		var tickets []Ticket
		for i := range names {
			f.want(2, names[i], Terms{Tx: uint64(i + 1)})
			f.settle()
		}
		v := f.next(4)
		for i := range names {
			tickets = append(tickets, f.want(2, names[1-i], Terms{Tx: uint64(i + 1)}))
		}
		f.mail = nil // the requests are lost with the view
		f.install(v)
		var held []posted
		for len(f.mail) > 0 {
			l := f.mail[0]
			if f.mail = f.mail[1:]; l.from == 3 && l.to == uint64(late+1) {
				held = append(held, l)
				continue
			}
			f.deliver(l)
		}
		f.mail = held
		f.settle()
		f.pass(DetectAfter)
		f.settle()
		doomed := 0
		for _, ticket := range tickets {
			if e, ok := f.last[ticket]; ok && e.Cause == Deadlock {
				doomed++
			}
		}
		if doomed != 1 {
			t.Errorf("reports to %d are late: %d transactions must abort, want 1", late+1, doomed)
		}
	}
}
