package algorithm

import (
	"slices"
	"strconv"
	"strings"
)

// Index codes the index of one of limit things that are not seats, or -1 for none. People
// see them numbered from 1.
func (c *Coder) Index(name string, v *int, limit int) {
	switch c.mode {
	case encode:
		c.put(uint64(*v + 1))
	case decode:
		*v = int(c.get(name, uint64(limit)+1)) - 1
	case describe:
		c.show(name, number(ID(*v)))
	case assign:
		c.setIndex(name, v, limit)
	case zero:
		*v = -1
	}
}

// Indexes codes a list of such indexes, each at most once.
func (c *Coder) Indexes(name string, vs *[]int, limit int) {
	switch c.mode {
	case encode:
		c.put(uint64(len(*vs)))
		for _, v := range *vs {
			c.put(uint64(v))
		}
	case decode:
		*vs = c.getIndexes(name, limit)
	case describe:
		ids := make([]ID, len(*vs))
		for i, v := range *vs {
			ids[i] = ID(v)
		}
		c.show(name, numbers(ids))
	case assign:
		c.setIndexes(name, vs, limit)
	case zero:
		*vs = nil
	}
}

func (c *Coder) getIndexes(name string, limit int) []int {
	n := int(c.get(name, uint64(limit)+1))
	if n > len(c.buf) {
		c.fail(name, "unexpected end of input")
		return nil
	}
	list := make([]int, 0, n)
	seen := make(map[int]bool, n)
	for range n {
		v := int(c.get(name, uint64(limit)))
		if c.err == nil && seen[v] {
			c.fail(name, "%d is listed twice", v+1)
		}
		if c.err != nil {
			return nil
		}
		seen[v] = true
		list = append(list, v)
	}
	return list
}

func (c *Coder) setIndex(name string, v *int, limit int) {
	if c.name != name {
		return
	}
	c.found = true
	if c.text == "none" {
		*v = -1
		return
	}
	if x, ok := c.index(c.text, limit); ok {
		*v = x
	}
}

func (c *Coder) setIndexes(name string, vs *[]int, limit int) {
	if c.name != name {
		return
	}
	c.found = true
	var list []int
	if c.text != "none" {
		for w := range strings.FieldsSeq(c.text) {
			x, ok := c.index(w, limit)
			if !ok {
				return
			}
			if slices.Contains(list, x) {
				c.wrong("%s is listed twice", w)
				return
			}
			list = append(list, x)
		}
	}
	*vs = list
}

func (c *Coder) index(text string, limit int) (int, bool) {
	x, err := strconv.Atoi(text)
	if err != nil || x < 1 || x > limit {
		c.wrong("want a number from 1 to %d", limit)
		return 0, false
	}
	return x - 1, true
}
