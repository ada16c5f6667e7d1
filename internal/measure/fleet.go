package measure

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/lab/scenario"
)

// What happens to a fleet, besides messages and timers.
const (
	confirms = own + iota // a renewal of a member is confirmed
	installs              // a member is notified of the view
	asks                  // an application requests a lock
	leaves                // an application releases a lock
)

// A fleet is a group of processes without voters. The fleet plays the view service for
// them, so that measurements of the locks do not depend on voters: it confirms a renewal
// after 2 T, and changes the view on demand. A process is identified by its place, which is
// its incarnation minus one.
type fleet struct {
	*harness
	spec    algorithm.Spec
	nonces  []uint64      // nonces of the processes' requests to join
	view    *views.Record // the last committed view
	renewed []int64       // when the service last heard from each member
	leaving int           // place of the member that has asked to leave, or none
	dead    int           // place of the member that has crashed, or none
	frames  int64         // number of frames sent
	carried []int64       // number of frames that each member has sent or received

	notified func(place int, e member.Event) // called with the outcomes of requests
}

// viewService is the address of the view service that a fleet plays.
const viewService = "views"

// newFleet makes a fleet with a view of the first n processes; the others may join later.
// All locks have the same choice, and spec is its algorithm unless they are kept.
func newFleet(spec algorithm.Spec, choice member.Choice, n, more int, latency scenario.Dist, seed uint64) (*fleet, error) {
	all := n + more
	f := &fleet{
		harness: newHarness(all, latency, seed), spec: spec, nonces: make([]uint64, all), renewed: make([]int64, all), leaving: none, dead: none,
		carried: make([]int64, all), notified: func(int, member.Event) {},
	}
	f.seen, f.outside = f.see, f.serve
	f.view = &views.Record{
		Cluster: 1, Epoch: 1, Settings: member.Usual(), Wanted: 1, Voters: []views.Voter{{ID: 1, Name: viewService, Address: viewService}},
		Choices: []member.Choice{choice},
	}
	for i := range n {
		f.view.Members = append(f.view.Members, f.join(i))
	}
	for i := range n {
		f.install(i)
	}
	return f, f.err
}

// noVoters are the logs of processes that are not voters.
type noVoters struct{ views.Logs }

// Voter implements views.Logs.
func (noVoters) Voter([]byte) (cluster, voter uint64, err error) { return 0, 0, nil }

// join starts a process, which asks to join, and returns it as a member.
func (f *fleet) join(i int) views.Member {
	n := f.nodes[i]
	c := process.Config{Logs: noVoters{}, Spec: func(string, int) (algorithm.Spec, error) { return f.spec, nil }}
	c.Settings, c.Contacts, c.Seed[0] = f.view.Settings, []string{viewService}, byte(i)
	n.start(c)
	return views.Member{Name: n.address, Address: n.address, Nonce: f.nonces[i], Inc: uint64(i + 1)}
}

// next returns the view after the present one, without some members.
func (f *fleet) next(without ...uint64) *views.Record {
	v := f.view.Clone()
	v.Epoch, v.Before, v.Members, v.Formers = f.view.Epoch+1, f.view.Epoch, nil, nil
	for _, m := range f.view.Members {
		if v.Formers = append(v.Formers, m.Inc); !slices.Contains(without, m.Inc) {
			v.Members = append(v.Members, m)
		}
	}
	return &v
}

// home returns the place of the home of a lock.
func (f *fleet) home(name string) int {
	v := f.view.View()
	return v.Home(name)
}

// commit notifies the members of a view, each after a latency.
func (f *fleet) commit(v *views.Record, r *kernel.Rand, latency scenario.Dist) {
	f.view = v
	for _, m := range v.Members {
		f.At(f.Now()+r.Sample(latency), installs, algorithm.ID(m.Inc-1), 0)
	}
}

// install sends a member the last committed view.
func (f *fleet) install(i int) {
	f.answer(i, &views.Message{Kind: views.View, Record: f.view.AppendTo(nil)})
}

// answer hands a process a message from the view service.
func (f *fleet) answer(i int, m *views.Message) {
	m.Cluster, m.Inc = f.view.Cluster, uint64(i+1)
	f.nodes[i].step(process.Input{Kind: process.Message, Text: viewService, Bytes: m.AppendTo([]byte{process.Service})})
}

// serve handles a message to the view service.
func (f *fleet) serve(n *node, to string, b []byte) {
	b, ok := process.IsService(b)
	if !ok || to != viewService {
		f.fail(fmt.Errorf("%s sends %q a message that is not for the view service", n.address, to))
		return
	}
	m, err := views.ParseMessage(b)
	if err != nil {
		f.fail(err)
		return
	}
	switch m.Kind {
	case views.Join:
		f.nonces[n.id] = m.Nonce
	case views.Renew:
		f.At(f.Now()+2*T, confirms, n.id, int(m.Number))
	case views.Leave:
		f.leaving = int(n.id)
	}
}

// see handles a report of a process.
func (f *fleet) see(n *node, e *process.Effect) {
	switch e.Kind {
	case process.Notify:
		f.notified(int(n.id), e.Event)
	case process.FrameSent:
		f.frames++
		f.carried[n.id]++
	case process.Delivering:
		f.carried[n.id]++
	case process.Ended:
		f.fail(fmt.Errorf("%s is no longer a member, and was not notified", n.address))
	}
}

// crash makes a member crash.
func (f *fleet) crash(i int) {
	f.dead = i
	f.Crash(algorithm.ID(i))
}

// tick handles one of the fleet's own events.
func (f *fleet) tick(e *kernel.Event) {
	i := int(e.Proc())
	switch e.Kind {
	case wakes:
		f.wake(e)
	case confirms:
		f.renewed[i] = f.Now() - T
		f.answer(i, &views.Message{Kind: views.Renewed, Number: uint64(e.Arg()), Epoch: f.nodes[i].Record().Epoch})
	case installs:
		f.install(i)
	}
}
