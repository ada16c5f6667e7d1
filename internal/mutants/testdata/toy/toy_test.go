package toy

import "testing"

func TestSum(t *testing.T) {
	if got := Sum(5, 100); got != 10 {
		t.Errorf("got %d", got)
	}
}

func TestFill(t *testing.T) {
	if got := len(Fill(3)); got != 3 {
		t.Errorf("got %d", got)
	}
}
