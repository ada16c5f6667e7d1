package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/kernel"
)

// roamers are algorithms that are safe and live, the weaker ones too.
func roamers() []algorithm.Spec {
	specs := []algorithm.Spec{
		RicartAgrawala(), SuzukiKasami(), Maekawa(quorum.Grid), Maekawa(quorum.Majority), Raymond(Kary(2)),
		Majority(), Sanders(AskAll), Sanders(AskQuorum(quorum.Grid)), Sanders(AskCoordinator(0)), Sanders(mixed),
		Bakery(), BakeryPolling(), Dijkstra(0), Dijkstra(2),
		RicartAgrawala1981(), RaymondGreedy(Star), RaymondInitialize(Kary(2)),
	}
	return specs
}

// mixed is a structure that is none of the instances: the first two share an
// informed voter, the others ask everybody.
func mixed(n int) (Structure, error) {
	st, err := AskAll(n)
	if n > 1 {
		st.Inform[1].Add(0)
	}
	return st, err
}

func TestRandomSchedulesFromEveryView(t *testing.T) {
	for _, spec := range roamers() {
		for n := 1; n <= 6; n++ {
			for h := range algorithm.ID(n) {
				if spec.Accepts(n) != nil {
					continue
				}
				for seed := range uint64(4) {
					roam(t, spec, algorithm.View{N: n, Holder: h, Busy: seed%2 == 0}, seed, 60*n)
				}
			}
		}
	}
}

// Bytes that decode to nonsense must not make a machine panic or send to
// nobody.
func TestNonsenseIsHarmless(t *testing.T) {
	specs := append(roamers(), MaekawaNaive(quorum.Grid), MaekawaPublished(quorum.Grid), MajorityNaive(), BakeryNaive())
	for _, spec := range specs {
		rand := kernel.NewRand(1, 1)
		below := func(n int) int { return int(rand.Below(int64(n))) }
		for range 50 {
			n := 2 + below(4)
			if spec.Accepts(n) != nil {
				continue
			}
			self := algorithm.ID(below(n))
			m, err := spec.New(self, algorithm.View{N: n, Holder: algorithm.ID(below(n)), Busy: below(2) == 0})
			if err != nil {
				t.Fatal(err)
			}
			var out host.Output
			for range 60 {
				in := host.Input{Kind: host.Receive, From: algorithm.ID(below(n))}
				for range 1 + below(5) {
					in.Bytes = append(in.Bytes, byte(below(4)))
				}
				switch below(12) {
				case 0:
					in.Kind = host.Request
				case 1:
					in.Kind = host.Release
				}
				if m.Step(in, &out) != nil {
					continue
				}
				for _, s := range out.Sends {
					if s.To < 0 || int(s.To) >= n {
						t.Fatalf("%s: a message to seat %d of %d", spec.Name, s.To, n)
					}
				}
			}
		}
	}
}
