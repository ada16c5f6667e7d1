package core_test

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/mutex"
)

// A host in a few lines: it drives the machines of all seats over a network
// that is a list. P1 and P3 ask at the same time; both get in, one by one.
func Example() {
	spec := mutex.RicartAgrawala()
	group, err := spec.Group(core.View{N: 3, Holder: 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	type message struct {
		from, to core.ID
		bytes    []byte
	}
	var network []message
	var out core.Output
	step := func(self core.ID, in core.Input) {
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

	step(0, core.Input{Kind: core.Request})
	step(2, core.Input{Kind: core.Request})
	for len(network) > 0 {
		m := network[0]
		network = network[1:]
		fields, _ := core.DescribeMessage(group[m.to], 3, m.bytes)
		fmt.Println(m.from, "to", m.to, spec.Kinds[m.bytes[0]], fields)
		step(m.to, core.Input{Kind: core.Receive, From: m.from, Bytes: m.bytes})
		if len(network) == 0 && m.from != 0 {
			fmt.Println("P1 leaves")
			step(0, core.Input{Kind: core.Release})
		}
	}
	fmt.Println("state of P3:", core.Describe(group[2], 3))
	// Output:
	// P1 to P2 REQUEST [{clock 2} {time 1}]
	// P1 to P3 REQUEST [{clock 2} {time 1}]
	// P3 to P1 REQUEST [{clock 2} {time 1}]
	// P3 to P2 REQUEST [{clock 2} {time 1}]
	// P2 to P1 OK [{clock 2}]
	// P3 to P1 OK [{clock 2}]
	// P1 is inside
	// P2 to P3 OK [{clock 2}]
	// P1 leaves
	// P1 to P3 OK [{clock 2}]
	// P3 is inside
	// state of P3: [{state HELD} {clock 2} {given none} {asked 0} {missing none} {deferred none}]
}
