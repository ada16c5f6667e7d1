package member

import "testing"

// A client that has moved twice holds a lock through three members. The hold counts once, in
// later views too, and ends when all three have ended it, in whatever order.
func TestKeptClaimThrice(t *testing.T) {
	const last = 3 // the home
	for what, terms := range keptModes {
		for _, reported := range []bool{false, true} {
			for _, order := range [][]int{{keptA, keptB, last}, {keptA, last, keptB}, {keptB, keptA, last}, {keptB, last, keptA}, {last, keptA, keptB}, {last, keptB, keptA}} {
				k := newKeptMove(t, "none", terms, false, true)
				k.install(k.then)
				k.settle()
				k.is(k.moves(), Held, NoCause)
				m := k.members[last]
				again, err := m.Claim(m.now, k.name, k.token, moving, []uint64{keptA + 1, keptB + 1}, k.terms)
				if err != nil {
					t.Fatal(err)
				}
				k.take(last)
				k.settle()
				if again |= last << 56; k.last[again].Token != k.token {
					t.Fatalf("%s: the second claim: %+v", what, k.last[again])
				}
				if reported {
					k.install(k.next())
					k.settle()
				}
				_, not := beside(terms)
				waits := k.want(keptOther, k.name, not)
				k.settle()
				for _, i := range order {
					k.waits(waits)
					k.leaves(i)
				}
				k.is(waits, Held, NoCause)
			}
		}
	}
}
