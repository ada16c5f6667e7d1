package algorithm_test

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
)

// A host in a few lines: it drives the machines of all seats over a network
// that is a list. P1 and P3 ask at the same time; both get in, one by one.
func Example() {
	spec := mutex.RicartAgrawala()
	group, err := spec.Group(algorithm.View{N: 3, Holder: 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	type message struct {
		from, to algorithm.ID
		bytes    []byte
	}
	var network []message
	var out host.Output
	step := func(self algorithm.ID, in host.Input) {
		if err := group[self].Step(in, &out); err != nil {
			fmt.Println(err)
			return
		}
		for i, s := range out.Sends { // the bytes live until the next Step
			network = append(network, message{self, s.To, append([]byte(nil), out.Bytes(i)...)})
		}
		if out.Entered {
			fmt.Println(self, "is inside")
		}
	}

	step(0, host.Input{Kind: host.Request})
	step(2, host.Input{Kind: host.Request})
	for len(network) > 0 {
		m := network[0]
		network = network[1:]
		fmt.Println(m.from, "to", m.to, spec.Kinds[m.bytes[0]])
		step(m.to, host.Input{Kind: host.Receive, From: m.from, Bytes: m.bytes})
		if len(network) == 0 && m.from != 0 {
			fmt.Println("P1 leaves")
			step(0, host.Input{Kind: host.Release})
		}
	}
	fmt.Println("the state of P3:", group[2].Describe()[0].Value)
	// Output:
	// P1 to P2 REQUEST
	// P1 to P3 REQUEST
	// P3 to P1 REQUEST
	// P3 to P2 REQUEST
	// P2 to P1 OK
	// P3 to P1 OK
	// P1 is inside
	// P2 to P3 OK
	// P1 leaves
	// P1 to P3 OK
	// P3 is inside
	// the state of P3: HELD
}
