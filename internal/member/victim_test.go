package member

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/codec"
)

// A cycle that is too long for a client is cut, and says so. What was cut is read as it was
// written.
func TestVictimClip(t *testing.T) {
	bad := errors.New("bad")
	v := &Victim{How: InCycle}
	for i := range 100 {
		v.Cycle = append(v.Cycle, Wait{Node: "n", Inc: 9, Tx: uint64(i), Lock: strings.Repeat("x", MaxName)})
		short := v.Clip()
		var c codec.Coder
		short.Code(&c)
		if len(short.Cycle) == 0 || len(short.Cycle)+short.More != len(v.Cycle) || len(c.B) > maxCycle+MaxName {
			t.Fatalf("%d of %d, and %d more, in %d bytes", len(short.Cycle), len(v.Cycle), short.More, len(c.B))
		}
		var again Victim
		r := codec.Coder{B: c.B, Bad: bad}
		again.Code(&r)
		if err := r.End(); err != nil || !reflect.DeepEqual(&again, short) {
			t.Errorf("read as %+v, %v", again, err)
		}
		if text := short.String(); strings.Count(text, "waits for") != len(short.Cycle) || strings.HasSuffix(text, "more") != (short.More > 0) {
			t.Errorf("%d waits: %s", len(short.Cycle), text)
		}
	}
	for _, how := range []How{InCycle, Wounded, Died} {
		var c codec.Coder
		(&Victim{How: how}).Code(&c)
		r := codec.Coder{B: c.B, Bad: bad}
		new(Victim).Code(&r)
		if r.End() == nil {
			t.Errorf("%d: a victim without a reason is read", how)
		}
	}
}
