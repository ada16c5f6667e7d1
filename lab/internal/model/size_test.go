package model

import (
	"testing"
	"unsafe"
)

// States of different workers share no cache line.
func TestStateFillsLines(t *testing.T) {
	if size := unsafe.Sizeof(state{}); size%64 != 0 {
		t.Errorf("a state takes %d bytes: change what pads it, to a multiple of 64", size)
	}
}
