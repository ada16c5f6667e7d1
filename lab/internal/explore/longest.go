package explore

// Longest returns a longest run inside the part, with the step out of it if there is one:
// the states, of which only the last may be outside. It reports false if there is none
// because a run can stay forever, or if it ends early.
func (c *Cut) Longest() (run []uint32, ok bool) {
	length := make([]int32, c.Parts())
	next := make([]uint32, c.Parts())
	c.extra = int64(c.Parts()) * 8
	defer func() { c.extra = 0 }()
	best := -1
	for id := 0; id < c.Parts(); id++ {
		if !c.often(id) {
			return nil, false
		}
		s := c.Members(id)[0]
		for e := c.first[s]; e < c.first[s+1]; e++ {
			t, steps := c.to[e], int32(1)
			if to := c.comp[t]; to == int32(id) {
				return nil, false
			} else if to >= 0 {
				steps += length[to]
			}
			if steps > length[id] {
				length[id], next[id] = steps, t
			}
		}
		if best < 0 || length[id] > length[best] || length[id] == length[best] && s < c.Members(best)[0] {
			best = id
		}
	}
	if best < 0 {
		return nil, true
	}
	run = []uint32{c.Members(best)[0]}
	for id := int32(best); id >= 0 && length[id] > 0; id = c.comp[run[len(run)-1]] {
		run = append(run, next[id])
	}
	return run, true
}
