package engine

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

func TestSweep(t *testing.T) {
	a, err := strconv.ParseUint(os.Getenv("FROM"), 10, 64)
	if err != nil {
		t.Skip()
	}
	b, _ := strconv.ParseUint(os.Getenv("TO"), 10, 64)
	for s := a; s < b; s++ {
		if w := storm(s, 0); w.broken != "" {
			fmt.Println(s, w.broken)
		}
	}
}
