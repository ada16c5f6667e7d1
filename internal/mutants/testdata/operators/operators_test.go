package operators

import (
	"fmt"
	"testing"
)

// Test prints a line for each function. A mutant changes one of them.
func Test(t *testing.T) {
	a := account{"a", 1, true}
	b := account{"a", 2, false}
	early(&a)
	early(&b)
	fmt.Println("drop", drop(3))
	fmt.Println("early", a, b)
	fmt.Println("keep", keep(a), keep(b))
	fmt.Println("cases", cases(0), cases(1), cases(2), cases(3))
	fmt.Println("both", both(true, true, false), both(true, true, true), both(true, false, false), both(false, true, false))
	fmt.Println("compare", compare(1, 2), compare(2, 2), compare(3, 2))
	fmt.Println("compute", compute(13, 5), compute(4, 3))
	fmt.Println("least", least(6, 6), least(-5, 2), least(3, -1))
	for _, x := range []account{a, b} {
		fmt.Print("check ")
		fmt.Println(check(x))
	}
}
