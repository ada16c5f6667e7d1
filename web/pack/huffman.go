package main

import (
	"cmp"
	"math/bits"
	"slices"
)

// A code has bits for symbols: fewer for those that are more frequent.
type code struct {
	lengths []uint8
	bits    []uint16 // the first at the lowest bit
}

func (c code) put(w *writer, symbol int) { w.put(uint64(c.bits[symbol]), int(c.lengths[symbol])) }

// newCode makes Huffman's code, of at most so many bits for a symbol.
func newCode(often []int32, most int) code {
	var used []int
	for s, n := range often {
		if n > 0 {
			used = append(used, s)
		}
	}
	slices.SortStableFunc(used, func(a, b int) int { return cmp.Compare(often[a], often[b]) })
	c := code{make([]uint8, len(often)), make([]uint16, len(often))}
	many := depths(used, often, most)
	at := 0
	for l := most; l > 0; l-- { // the least frequent have the longest
		for range many[l] {
			c.lengths[used[at]] = uint8(l)
			at++
		}
	}
	next := uint16(0)
	for l := 1; l <= most; l++ {
		for s, mine := range c.lengths {
			if int(mine) == l {
				c.bits[s] = bits.Reverse16(next) >> (16 - l)
				next++
			}
		}
		next <<= 1
	}
	return c
}

// depths are how many symbols, which come by frequency, have codes of each length.
func depths(used []int, often []int32, most int) []int {
	many := make([]int, max(most, len(used))+1)
	if len(used) < 2 {
		many[1] = len(used)
		return many
	}
	// The two rarest become one, again and again: leaves come in order, and so do pairs.
	n := len(used)
	weight, up := make([]int64, 2*n-1), make([]int, 2*n-1)
	for i, s := range used {
		weight[i] = int64(often[s])
	}
	leaf, pair := 0, n
	for to := n; to < 2*n-1; to++ {
		for range 2 {
			least := &pair
			if pair >= to || leaf < n && weight[leaf] <= weight[pair] {
				least = &leaf
			}
			weight[to] += weight[*least]
			up[*least] = to
			*least++
		}
	}
	deep := make([]int, 2*n-1)
	for i := 2*n - 3; i >= 0; i-- {
		deep[i] = deep[up[i]] + 1
		if i < n {
			many[deep[i]]++
		}
	}
	return bounded(many, most)
}

// bounded shortens what is too long, and makes room for that where it costs least.
func bounded(many []int, most int) []int {
	full := 0
	for l, n := range many {
		if l > most {
			many[most] += n
			many[l] = 0
		}
		full += n << max(0, most-l)
	}
	for ; full > 1<<most; full-- {
		l := most - 1
		for many[l] == 0 {
			l--
		}
		many[most]--
		many[l]--
		many[l+1] += 2
	}
	return many
}
