package quorum

// A field is the finite field of p to the d elements: polynomials over the integers
// modulo p, modulo a primitive polynomial of degree d.
type field struct {
	p       int
	modulus element // coefficients of the modulus below x^d, whose coefficient is 1
}

// An element is the polynomial with these coefficients, that of x^0 first.
type element []int

// newField makes the field over the first primitive polynomial, where polynomials are
// ordered as the numbers whose digits to the base p are their coefficients.
//
// The order of x is the only test needed: if x has p^d - 1 different powers, then every
// polynomial but 0 is one of them and has an inverse.
func newField(p, d int) field {
	f := field{p, make(element, d)}
	size := 1
	for range d {
		size *= p
	}
	factors := primeFactors(size - 1)
	for code := 1; ; code++ {
		for i, rest := 0, code; i < d; i, rest = i+1, rest/p {
			f.modulus[i] = rest % p
		}
		if f.primitive(size-1, factors) {
			return f
		}
	}
}

// primitive reports whether x has the given order, whose prime factors are primes.
func (f field) primitive(order int, primes []int) bool {
	x := f.generator()
	if f.modulus[0] == 0 || !f.isOne(f.power(x, order)) {
		return false
	}
	for _, r := range primes {
		if f.isOne(f.power(x, order/r)) {
			return false
		}
	}
	return true
}

func primeFactors(n int) []int {
	var primes []int
	for n > 1 {
		r := smallestFactor(n)
		primes = append(primes, r)
		for n%r == 0 {
			n /= r
		}
	}
	return primes
}

func (f field) one() element {
	e := make(element, len(f.modulus))
	e[0] = 1
	return e
}

// generator returns x.
func (f field) generator() element {
	e := make(element, len(f.modulus))
	e[1] = 1
	return e
}

func (f field) isOne(a element) bool {
	for i, c := range a {
		if i == 0 && c != 1 || i > 0 && c != 0 {
			return false
		}
	}
	return true
}

func (f field) sumIsZero(terms [3]element) bool {
	for i := range f.modulus {
		if (terms[0][i]+terms[1][i]+terms[2][i])%f.p != 0 {
			return false
		}
	}
	return true
}

// times multiplies a and b: for each coefficient of b, from the highest, it multiplies
// the sum so far by x and adds a times the coefficient.
func (f field) times(a, b element) element {
	d := len(f.modulus)
	sum := make(element, d)
	for i := d - 1; i >= 0; i-- {
		top := sum[d-1]
		for j := d - 1; j >= 0; j-- {
			below := 0
			if j > 0 {
				below = sum[j-1]
			}
			sum[j] = (below + (f.p-top)*f.modulus[j] + b[i]*a[j]) % f.p
		}
	}
	return sum
}

func (f field) power(a element, n int) element {
	result := f.one()
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			result = f.times(result, a)
		}
		a = f.times(a, a)
	}
	return result
}
