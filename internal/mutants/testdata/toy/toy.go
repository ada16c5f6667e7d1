// Package toy is mutated by a test of the tool.
package toy

// Sum adds the numbers up to n that are not too large.
func Sum(n, most int) int {
	sum := 0
	for i := range n {
		if i > most { // no test has a number that is exactly most
			break
		}
		sum += i
	}
	return sum
}

// Unused is called by no test.
func Unused() bool { return true }

const block = 1 << 24

// Fill makes n large blocks.
func Fill(n int) [][]byte {
	var all [][]byte
	for len(all) < n {
		all = append(all, make([]byte, block))
		n++
		n--
	}
	return all
}
