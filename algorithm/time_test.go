package algorithm

import "testing"

// A clock takes over what is later, stays at what is not, and stamps each
// request with a time of its own, the first one too.
func TestClock(t *testing.T) {
	clock := First()
	asked := clock.Tick()
	if asked.IsNone() || !asked.Before(clock) || !clock.After(asked) || asked.Next() != clock {
		t.Errorf("asked at %v, the clock is then %v", asked, clock)
	}
	clock.See(asked)
	clock.See(Time{})
	if clock != asked.Next() {
		t.Errorf("the clock went back to %v", clock)
	}
	later := clock.Next().Next()
	if clock.See(later); clock != later {
		t.Errorf("the clock is %v after it saw %v", clock, later)
	}
	var none Time
	if !none.IsNone() || !none.Before(asked) || none.After(asked) || none.Next() != First() {
		t.Errorf("none is not before %v", asked)
	}
}
