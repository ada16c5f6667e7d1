package main

import (
	"math"
	"math/bits"
	"slices"
)

// The codes of deflate (RFC 1951, 3.2.5).
const (
	endOfBlock  = 256
	firstLength = 257
)

var (
	lengthExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	lengthBase  [29]int
	lengthCodes [mostMatch + 1]int
)

func init() {
	at := leastMatch
	for i, extra := range lengthExtra[:28] {
		lengthBase[i] = at
		for range 1 << extra {
			if at <= mostMatch {
				lengthCodes[at] = firstLength + i
			}
			at++
		}
	}
	lengthBase[28], lengthCodes[mostMatch] = mostMatch, firstLength+28
}

// backCode is the code of a distance, backExtra how many bits follow it, and backBase the
// least distance of that code.
func backCode(back int) int {
	if back <= 4 {
		return back - 1
	}
	n := bits.Len(uint(back-1)) - 2
	return 2*n + 2 + (back-1)>>n&1
}

func backExtra(code int) int { return max(0, code/2-1) }

func backBase(code int) int {
	if code < 4 {
		return code + 1
	}
	return (2+code&1)<<backExtra(code) + 1
}

// counts are how often codes occur.
type counts struct {
	symbol [286]int32
	back   [30]int32
}

func (c *counts) add(all []token) {
	for _, t := range all {
		if t&isMatch == 0 {
			c.symbol[t]++
			continue
		}
		c.symbol[lengthCodes[t.length()]]++
		c.back[backCode(t.back())]++
	}
}

func (c *counts) plus(d *counts) counts {
	sum := *c
	for i, n := range d.symbol {
		sum.symbol[i] += n
	}
	for i, n := range d.back {
		sum.back[i] += n
	}
	return sum
}

// bits is about how many a block takes, without what follows codes.
func (c *counts) bits() float64 {
	total := 80.0
	for _, list := range [][]int32{c.symbol[:], c.back[:]} {
		sum := 0.0
		for _, n := range list {
			sum += float64(n)
		}
		for _, n := range list {
			if n > 0 {
				total += 4 + float64(n)*math.Log2(sum/float64(n))
			}
		}
	}
	return total
}

const chunk = 2048 // tokens: where a block may end

// appendBlocks writes tokens as blocks, each with codes of its own. A block goes on as long
// as that takes no more than another one.
func appendBlocks(out []byte, all []token) []byte {
	w := &writer{out: out}
	from, to := 0, 0
	var now counts
	for to < len(all) {
		var next counts
		end := min(to+chunk, len(all))
		next.add(all[to:end])
		if both := now.plus(&next); to == from || both.bits() < now.bits()+next.bits() {
			now = both
		} else {
			w.block(all[from:to], now, false)
			from, now = to, next
		}
		to = end
	}
	w.block(all[from:], now, true)
	return w.flushed()
}

// A writer writes bits, the lowest first.
type writer struct {
	out  []byte
	bits uint64
	n    uint
}

func (w *writer) put(v uint64, n int) {
	w.bits |= v << w.n
	for w.n += uint(n); w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
}

func (w *writer) flushed() []byte {
	if w.n > 0 {
		w.out = append(w.out, byte(w.bits))
	}
	return w.out
}

// block writes one block.
func (w *writer) block(all []token, c counts, last bool) {
	c.symbol[endOfBlock]++
	for i := range 2 { // some readers want two
		c.back[i] = max(c.back[i], 1)
	}
	symbols, backs := newCode(c.symbol[:], 15), newCode(c.back[:], 15)
	final := uint64(0)
	if last {
		final = 1
	}
	w.put(final|2<<1, 3) // codes of its own
	w.codes(symbols, backs)
	for _, t := range all {
		if t&isMatch == 0 {
			symbols.put(w, int(t))
			continue
		}
		code := lengthCodes[t.length()]
		symbols.put(w, code)
		w.put(uint64(t.length()-lengthBase[code-firstLength]), int(lengthExtra[code-firstLength]))
		code = backCode(t.back())
		backs.put(w, code)
		w.put(uint64(t.back()-backBase(code)), backExtra(code))
	}
	symbols.put(w, endOfBlock)
}

// codes writes how long the codes of a block are.
func (w *writer) codes(symbols, backs code) {
	order := [...]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	used := func(c code, least int) []uint8 {
		n := len(c.lengths)
		for n > least && c.lengths[n-1] == 0 {
			n--
		}
		return c.lengths[:n]
	}
	a, b := used(symbols, firstLength), used(backs, 1)
	runs := runsOf(append(slices.Clone(a), b...))
	var often [19]int32
	for _, r := range runs {
		often[r.code]++
	}
	lengths := newCode(often[:], 7)
	n := len(order)
	for n > 4 && lengths.lengths[order[n-1]] == 0 {
		n--
	}
	w.put(uint64(len(a)-firstLength), 5)
	w.put(uint64(len(b)-1), 5)
	w.put(uint64(n-4), 4)
	for _, code := range order[:n] {
		w.put(uint64(lengths.lengths[code]), 3)
	}
	for _, r := range runs {
		lengths.put(w, r.code)
		w.put(uint64(r.more), [...]int{2, 3, 7}[max(r.code, 16)-16]*min(1, max(0, r.code-15)))
	}
}

// A run is a length of a code, or how often one comes again.
type run struct{ code, more int }

func runsOf(lengths []uint8) []run {
	var all []run
	for i := 0; i < len(lengths); {
		l, n := int(lengths[i]), 1
		for i+n < len(lengths) && int(lengths[i+n]) == l {
			n++
		}
		i += n
		if l > 0 {
			all = append(all, run{l, 0})
			n--
		}
		for n > 0 {
			switch {
			case l == 0 && n >= 11:
				k := min(n, 138)
				all = append(all, run{18, k - 11})
				n -= k
			case l == 0 && n >= 3:
				all = append(all, run{17, n - 3})
				n = 0
			case l > 0 && n >= 3:
				k := min(n, 6)
				all = append(all, run{16, k - 3})
				n -= k
			default:
				all = append(all, run{l, 0})
				n--
			}
		}
	}
	return all
}
