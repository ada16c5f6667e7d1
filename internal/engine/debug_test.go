package engine

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

func TestDebug(t *testing.T) {
	s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	if err != nil {
		t.Skip()
	}
	w := storm(s, 0)
	for _, l := range w.trace {
		fmt.Println(l)
	}
	fmt.Println(w.broken, w.leader.n.address, w.leader.warden.Leads(), w.list)
	for _, n := range w.nodes {
		q := n.proc
		fmt.Printf("%s phase %d inc %d target %s due %d dead %v keeper %v rate %d epoch %d\n", n.address, q.p.phase, q.p.inc, q.p.target, q.p.due, q.dead, n.keeper != nil, n.rate, q.p.record.Epoch)
	}
	lw := w.leader.warden
	fmt.Printf("%+v\n", lw.joiners)
	fmt.Println(lw.flying, lw.flaps, lw.agreed(), lw.steady, lw.list, lw.standings)
	fmt.Println(w.last())
}
