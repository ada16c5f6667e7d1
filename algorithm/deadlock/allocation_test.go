package deadlock

import "fmt"

func ExampleAllocation() {
	a := NewAllocation(3, 1, 2) // R1, and R2 of which there are two
	_ = a.Assign(0, 1)
	_ = a.Assign(1, 1)
	_ = a.Assign(2, 0)
	a.Request(0, 0)
	a.Request(2, 1)
	order, left := a.Reduce()
	fmt.Println("can end, in this order:", order, "deadlocked:", left)
	fmt.Println("cycle", Round(a.WaitFor().Cycles()[0]))
	// Output:
	// can end, in this order: [P2 P3 P1] deadlocked: []
	// cycle P1->P3->P1
}
