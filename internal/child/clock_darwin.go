package child

import "time"

// longestWait is the interval at which an alarm checks the clock again: on macOS a timer
// does not count the time during which the machine sleeps.
const longestWait = 250 * time.Millisecond

// An alarm sends on its channel when a moment has come.
type alarm struct {
	C     chan struct{}
	moves chan Moment
	over  chan struct{}
}

func newAlarm() (*alarm, error) {
	a := &alarm{C: make(chan struct{}, 1), moves: make(chan Moment), over: make(chan struct{})}
	go a.listen()
	return a, nil
}

func (a *alarm) listen() {
	var at Moment
	for {
		var tick <-chan time.Time
		if at != 0 {
			tick = time.After(min(at.Sub(Now()), longestWait))
		}
		select {
		case at = <-a.moves:
		case <-a.over:
			return
		case <-tick:
		}
		if at != 0 && Now() >= at {
			at = 0
			select {
			case a.C <- struct{}{}:
			default:
			}
		}
	}
}

// set moves the alarm to another moment, or to never.
func (a *alarm) set(at Moment) { a.moves <- at }

func (a *alarm) stop() { close(a.over) }
