package node
import ("testing";"fmt";"time";"context")
func TestDbg(t *testing.T) {
  for range 12 {
	all := start(t, 3, nil)
	for i := range 300 {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		h, err := all[i%3].Lock(ctx, "x", Ask{})
		cancel()
		if err != nil {
			fmt.Println("STUCK at", i, all[i%3].Name(), err)
			for _, m := range all {
				m.mu.Lock()
				w, ok := m.peer.Member().Explain("x")
				fmt.Printf("%s epoch %d inc %d usable %v: %v %+v holder %+v linked %v due in %v armed in %v\n", m.Name(), m.peer.Record().Epoch, m.peer.Inc(), m.usable(), ok, w, w.Holder, m.linked, until(clock(), m.peer.Due()), until(clock(), m.armed))
				m.mu.Unlock()
			}
			t.Fatal()
		}
		h.Unlock()
		if i % 10 == 0 { time.Sleep(10*time.Millisecond) }
	}
	for _, n := range all { n.Kill() }
  }
}
