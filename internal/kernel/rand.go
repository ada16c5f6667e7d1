package kernel

import (
	"math/bits"

	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// A Rand is a stream of random numbers that is the same on every machine: a
// counter, mixed by the finaliser of splitmix64. It uses integers only.
type Rand struct{ state uint64 }

// NewRand returns stream number stream of a seed.
func NewRand(seed, stream uint64) Rand {
	r := Rand{seed}
	r.state = r.Uint64() ^ mix(stream+0x632be59bd9b4e019)
	return r
}

// Uint64 returns the next number.
func (r *Rand) Uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return mix(r.state)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns a number from 0 to n-1.
func (r *Rand) Below(n int64) int64 {
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int64(hi)
}

// Sample draws a duration from d, in ticks.
func (r *Rand) Sample(d scenario.Dist) int64 {
	switch d.Shape {
	case script.Uniform:
		return d.A + r.Below(d.B-d.A+1)
	case script.Exponential:
		return r.exp(d.A)
	}
	return d.A
}

// ln2 is the natural logarithm of 2 in units of 2^-32.
const ln2 = 2977044472

// exp draws from the exponential distribution: -ln(u) times the mean.
func (r *Rand) exp(mean int64) int64 {
	hi, lo := bits.Mul64(negLog2(r.Uint64()), ln2) // times 2^-64
	nat := hi<<32 | lo>>32                         // times 2^-32
	hi, lo = bits.Mul64(nat, uint64(mean))
	return int64(hi<<32 | lo>>32)
}

// negLog2 returns -log2((x+1)/2^64) in units of 2^-32, of which 26 bits after the point
// are exact: repeated squaring yields the logarithm's bits one by one.
func negLog2(x uint64) uint64 {
	x++
	if x == 0 {
		return 0
	}
	lead := uint64(bits.LeadingZeros64(x))
	m := x << lead // 1 <= m/2^63 < 2
	var frac uint64
	for range 26 {
		hi, _ := bits.Mul64(m, m) // m^2 / 2^64, so 1/2 <= hi/2^63 < 2
		frac <<= 1
		if hi>>63 == 1 {
			frac |= 1
			m = hi
		} else {
			m = hi << 1
		}
	}
	return (lead+1)<<32 - frac<<6
}
