package quorum

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
)

// Plane takes the processes as the points of a finite projective plane and gives each a
// line: any two lines meet in exactly one point, every line has K = q+1 points and every
// point is on K lines. Such a plane of N = q*q+q+1 points exists for every power q of a
// prime; any other number of processes is refused. (A single process, or a triangle of
// three, would have such sets too but is not a plane: it lacks four points of which no
// three are on a line.)
//
// J. Singer: A Theorem in Finite Projective Geometry and Some Applications to Number
// Theory. Transactions of the AMS 43(3), 1938, pages 377-385: in a plane over a field the
// points can be numbered so that the lines are the shifts of one of them.
func Plane(n int) (System, error) {
	q := order(n)
	p, m := primePower(q)
	if q*q+q+1 != n || p == 0 {
		below, above := nearestPlanes(n)
		return nil, fmt.Errorf("no plane has %d processes: the nearest sizes are %d and %d", n, below, above)
	}
	line := differenceSet(p, m)
	s := make(System, n)
	for i := range s {
		for _, d := range line {
			s[i].Add(algorithm.ID((i + d) % n))
		}
	}
	return s, nil
}

// order returns the largest q with q*q+q+1 <= n, or 0 if there is none.
func order(n int) int {
	fits := func(q int) bool { return q < (n-1)/q } // does not overflow
	lo, hi := 0, 1
	for fits(hi) {
		lo, hi = hi, 2*hi
	}
	for lo+1 < hi {
		if q := (lo + hi) / 2; fits(q) {
			lo = q
		} else {
			hi = q
		}
	}
	return lo
}

// nearestPlanes returns the largest plane below n and the smallest above it.
// Below the smallest plane it returns the two smallest.
func nearestPlanes(n int) (below, above int) {
	next := func(q, step int) int {
		for p, _ := primePower(q); p == 0; p, _ = primePower(q) {
			q += step
		}
		return q
	}
	lo := next(max(order(n), 2), -1)
	hi := next(lo+1, 1)
	return lo*lo + lo + 1, hi*hi + hi + 1
}

// primePower returns the prime p and the exponent m for which q is p to the m, or 0, 0.
func primePower(q int) (p, m int) {
	if q < 2 {
		return 0, 0
	}
	p = smallestFactor(q)
	for ; q%p == 0; q /= p {
		m++
	}
	if q != 1 {
		return 0, 0
	}
	return p, m
}

func smallestFactor(n int) int {
	for f := 2; f*f <= n; f++ {
		if n%f == 0 {
			return f
		}
	}
	return n
}

// differenceSet returns one line of the plane of order q, where q is p to the m.
//
// The points are the elements of GF(q^3) without 0, where elements that differ by a
// factor in GF(q) are one point: the powers x^0 .. x^(N-1) of a generator x. The points
// whose trace a + a^q + a^(q*q) is 0 are a line. Multiplying by x maps lines to lines, so
// the exponents on one line suffice. Every difference but 0 occurs once among them, so
// exactly one shift of the line contains 0 and 1: that one is returned.
func differenceSet(p, m int) []int {
	f := newField(p, 3*m)
	q := 1
	for range m {
		q *= p
	}
	n := q*q + q + 1
	x := f.generator()
	step := [3]element{x, f.power(x, q), f.power(x, q*q)}
	at := [3]element{f.one(), f.one(), f.one()}
	var line []int
	for i := range n {
		if f.sumIsZero(at) {
			line = append(line, i)
		}
		for k := range at {
			at[k] = f.times(at[k], step[k])
		}
	}
	return shiftToOne(line, n)
}

// shiftToOne shifts a difference set so that it contains 0 and 1, and keeps it
// sorted.
func shiftToOne(line []int, n int) []int {
	k := len(line)
	for i, d := range line {
		if (line[(i+1)%k]-d+n)%n == 1 {
			shifted := make([]int, k)
			for j := range shifted {
				shifted[j] = (line[(i+j)%k] - d + n) % n
			}
			return shifted
		}
	}
	panic(fmt.Sprintf("quorum: %v is not a difference set modulo %d", line, n))
}
