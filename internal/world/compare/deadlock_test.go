package compare

import "testing"

func TestNoMethodsToCompare(t *testing.T) {
	if _, err := RunDeadlock(DeadlockConfig{}); err == nil {
		t.Error("nothing to compare: want an error")
	}
}
