package mutex

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// RaymondGreedy returns Raymond with the strategy, mentioned in the paper, that a process
// enters first whenever the privilege passes through it.
//
// K. Raymond: A Tree-Based Algorithm for Distributed Mutual Exclusion. ACM Transactions
// on Computer Systems 7(1), 1989, pages 61-77.
//
// No process waits forever, because the neighbours still queue in order and each
// departure of the privilege serves one of them. But before each departure the process
// itself has been inside once more.
func RaymondGreedy(tree TreeOf) algorithm.Spec {
	s := Raymond(tree)
	s.Name, s.Title = "raymond-greedy", "Raymond, self first"
	s.Weaker = "it is unfair: a process inside the tree overtakes a waiting one as often as it has neighbours, in a star N-1 times"
	s.Fixed = "raymond"
	s.Shown = "stile-lab replay lab/scenarios/raymond-greedy-star.stile"
	s.Rules[raymondFirst] = algorithm.Rule{ID: "2e", Text: "A process that gets the privilege is first in its own queue.", Why: "{self} puts itself first in its queue"}
	s.Plan = func(n int) (algorithm.Birth, error) {
		t, err := tree(n)
		if err != nil {
			return nil, err
		}
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &raymondGreedy{*newRaymond(self, v, t)})
		}, nil
	}
	return s
}

type raymondGreedy struct{ raymond }

func (s *raymondGreedy) Receive(from algorithm.ID, m *raymondMessage, out *algorithm.Out[raymondMessage]) {
	if m.Kind == raymondPrivilege {
		if i := slices.Index(s.queue, s.self); i > 0 {
			out.Because(raymondFirst, facts{})
			s.queue = slices.Insert(slices.Delete(s.queue, i, i+1), 0, s.self)
		}
	}
	s.raymond.Receive(from, m, out)
}
