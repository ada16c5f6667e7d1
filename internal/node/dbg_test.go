package node
import ("testing";"fmt";"time";"context")
func TestDbg(t *testing.T) {
  for range 12 {
	all := start(t, 3, nil)
	for i := range 30 { h, err := all[i%3].Lock(t.Context(), "x", Ask{}); if err != nil { t.Fatal(err) }; h.Unlock() }
	for i, n := range all {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		err := n.Stop2(ctx)
		cancel()
		if err != nil {
			fmt.Println("STOP", n.Name(), n.Address())
			for _, m := range all[i:] {
				m.mu.Lock()
				fmt.Println(m.Name(), m.state, m.peer.Inc())
				fmt.Printf("   %+v\n", m.peer.Record())
				if c := m.peer.Clerk(); c != nil { fmt.Printf("   clerk %d lead %+v record %+v\n", c.ID(), c.Lead(), c.Record()) }
				m.mu.Unlock()
			}
			return
		}
		n.Kill()
	}
  }
}
func (n *Node) Stop2(ctx context.Context) error {
	n.mu.Lock()
	n.become(Leaving)
	n.peer.Leave(clock())
	if !n.over { n.settle() }
	n.mu.Unlock()
	n.pool.Flush()
	return n.wait(ctx, func() bool { return n.over })
}
