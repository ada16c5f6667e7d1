package main

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
)

// gzipped returns a gzip file of data. It takes some seconds more than gzip -9 and is
// smaller by a twentieth: of all ways to write the data it looks for the shortest, where
// gzip takes what is the longest match here or at the next byte.
func gzipped(data []byte) []byte {
	out := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255} // no name and no time
	out = appendBlocks(out, tokensOf(data))
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(out, uint32(len(data)))
}

// What deflate bounds.
const (
	leastMatch = 3
	mostMatch  = 258
	window     = 1 << 15 // how far back a match may be
)

// A token is a byte, or a match: so many bytes as they were so far back.
type token uint32

const isMatch token = 1 << 31

func match(length, back int) token { return isMatch | token(length)<<16 | token(back-1) }

func (t token) length() int { return int(t &^ isMatch >> 16) }
func (t token) back() int   { return int(t&0xffff) + 1 }

const (
	part   = 1 << 18 // bytes for which one way is looked for
	rounds = 2       // how often: what a token costs is known only when all are chosen
)

// tokensOf finds a short way to write data.
func tokensOf(data []byte) []token {
	f := newFinder(data)
	var all []token
	p := &prices{}
	p.guess()
	for from := 0; from < len(data); from += part {
		to := min(from+part, len(data))
		f.find(from, to)
		var mine []token
		for range rounds {
			mine = f.shortest(data[from:to], p)
			p.learn(mine)
		}
		all = append(all, mine...)
	}
	return all
}

// A finder finds matches.
type finder struct {
	data  []byte
	third []int32 // by the hash of three bytes: where they were last
	head  []int32 // by the hash of four bytes: where they were last
	prev  []int32 // where they were before that, of the last places

	ends  []int32 // of each place of the part, where its matches end in found
	found []token // longer and longer ones, each as near as there is one
}

const (
	hashBits = 16
	deepest  = 128 // places that are looked at
)

func newFinder(data []byte) *finder {
	f := &finder{data: data, third: make([]int32, 1<<hashBits), head: make([]int32, 1<<hashBits), prev: make([]int32, window)}
	for i := range f.third {
		f.third[i], f.head[i] = -window-1, -window-1
	}
	return f
}

// find notes the matches of all places of a part.
func (f *finder) find(from, to int) {
	f.ends, f.found = f.ends[:0], f.found[:0]
	for at := from; at < to; at++ {
		if at+4 <= len(f.data) {
			f.at(at, min(mostMatch, to-at))
		}
		f.ends = append(f.ends, int32(len(f.found)))
	}
}

// at notes the matches of a place, of at most so many bytes.
func (f *finder) at(at, most int) {
	four := binary.LittleEndian.Uint32(f.data[at:])
	third, head := &f.third[four<<8*0x9e3779b1>>(32-hashBits)], &f.head[four*0x9e3779b1>>(32-hashBits)]
	longest := leastMatch - 1
	if was := int(*third); at-was <= window {
		longest = f.try(was, at, longest, most)
	}
	for was, left := int(*head), deepest; at-was <= window && longest < most && left > 0; left-- {
		if f.data[was+longest] == f.data[at+longest] {
			longest = f.try(was, at, longest, most)
		}
		next := int(f.prev[was%window])
		if next >= was {
			break // that place is another one by now
		}
		was = next
	}
	f.prev[at%window] = *head
	*third, *head = int32(at), int32(at)
}

// try notes a match if it is longer than those before it, and returns how long the longest is.
func (f *finder) try(was, at, longest, most int) int {
	n := f.same(was, at, most)
	if n <= longest {
		return longest
	}
	f.found = append(f.found, match(n, at-was))
	return n
}

// same is how many bytes of two places are the same, up to a bound.
func (f *finder) same(a, b, most int) int {
	n := 0
	for ; n+8 <= most; n += 8 {
		if x := binary.LittleEndian.Uint64(f.data[a+n:]) ^ binary.LittleEndian.Uint64(f.data[b+n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < most && f.data[a+n] == f.data[b+n] {
		n++
	}
	return n
}

// every is up to which length a match is also tried shortened: longer ones are worth it as they are.
const every = 40

// shortest finds the cheapest way through a part.
func (f *finder) shortest(data []byte, p *prices) []token {
	cost := make([]float32, len(data)+1)
	last := make([]token, len(data)+1) // how the cheapest way to a place ends
	for i := range cost[1:] {
		cost[i+1] = math.MaxFloat32
	}
	begin := int32(0)
	for i, b := range data {
		so := cost[i]
		if c := so + p.symbol[b]; c < cost[i+1] {
			cost[i+1], last[i+1] = c, token(b)
		}
		n := leastMatch
		for _, m := range f.found[begin:f.ends[i]] {
			back := so + p.back[backCode(m.back())]
			for most := m.length(); n <= most; n++ {
				if n > every {
					n = most
				}
				if c := back + p.length[n]; c < cost[i+n] {
					cost[i+n], last[i+n] = c, match(n, m.back())
				}
			}
		}
		begin = f.ends[i]
	}
	return walked(last)
}

// walked is the way that ends as told.
func walked(last []token) []token {
	n := 0
	for at := len(last) - 1; at > 0; at -= width(last[at]) {
		n++
	}
	way := make([]token, n)
	for at := len(last) - 1; at > 0; at -= width(last[at]) {
		n--
		way[n] = last[at]
	}
	return way
}

func width(t token) int {
	if t&isMatch == 0 {
		return 1
	}
	return t.length()
}

// prices are how many bits things take.
type prices struct {
	symbol [286]float32 // with what follows it
	length [mostMatch + 1]float32
	back   [30]float32
}

// guess sets prices before anything is known.
func (p *prices) guess() {
	var c counts
	for i := range c.symbol {
		c.symbol[i] = 1
	}
	for i := range c.back {
		c.back[i] = 1
	}
	p.set(&c)
}

// learn sets prices by what was chosen.
func (p *prices) learn(all []token) {
	var c counts
	c.add(all)
	p.set(&c)
}

func (p *prices) set(c *counts) {
	p.bits(p.symbol[:], c.symbol[:])
	p.bits(p.back[:], c.back[:])
	for i := range p.back {
		p.back[i] += float32(backExtra(i))
	}
	for n := leastMatch; n <= mostMatch; n++ {
		code := lengthCodes[n]
		p.length[n] = p.symbol[code] + float32(lengthExtra[code-firstLength])
	}
}

// bits are what symbols take that are so frequent.
func (*prices) bits(price []float32, counts []int32) {
	sum := 0.0
	for _, n := range counts {
		sum += float64(n)
	}
	for i, n := range counts {
		price[i] = float32(math.Log2(max(sum, 1) / max(float64(n), 0.5)))
	}
}
