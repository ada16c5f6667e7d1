package catalog

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// dice are chance that is the same for ever: vectors depend on it.
type dice uint64

func (d *dice) below(n int) int {
	*d ^= *d << 13
	*d ^= *d >> 7
	*d ^= *d << 17
	return int(uint64(*d) % uint64(n))
}

// A crew is a group as a live member runs it: born with process 1 inside, told
// of requests, exits and messages and of nothing else, over links that keep the
// order of sending.
type crew struct {
	spec    algorithm.Spec
	ms      []algorithm.Machine
	phase   []phase
	entries []int // of each seat
	flight  []letter
	dice    dice
	out     host.Output
}

func newCrew(spec algorithm.Spec, n int, seed uint64) (*crew, error) {
	ms, err := spec.Group(algorithm.View{N: n, Busy: true})
	if err != nil {
		return nil, err
	}
	c := &crew{spec: spec, ms: ms, phase: make([]phase, n), entries: make([]int, n), dice: dice(seed + 1)}
	c.phase[0] = inside
	return c, nil
}

// step gives one input. It is an error to want what a live member does not do,
// and to be inside in company.
func (c *crew) step(self algorithm.ID, in host.Input) error {
	if err := c.ms[self].Step(in, &c.out); err != nil {
		return fmt.Errorf("%v: %w", self, err)
	}
	if len(c.out.Notices) > 0 {
		return fmt.Errorf("%v wants more than messages: a notice of kind %d", self, c.out.Notices[0].Kind)
	}
	for i, s := range c.out.Sends {
		c.flight = append(c.flight, letter{self, s.To, bytes.Clone(c.out.Bytes(i))})
	}
	if c.out.Entered {
		if slices.Contains(c.phase, inside) {
			return fmt.Errorf("%v enters while another is inside", self)
		}
		c.phase[self] = inside
		c.entries[self]++
	}
	return nil
}

func (c *crew) ask(self algorithm.ID) error {
	c.phase[self] = waiting
	return c.step(self, host.Input{Kind: host.Request})
}

func (c *crew) leave(self algorithm.ID) error {
	c.phase[self] = idle
	return c.step(self, host.Input{Kind: host.Release})
}

// next returns the message that comes next on the link of the message i.
func (c *crew) next(i int) int {
	link := c.flight[i]
	return slices.IndexFunc(c.flight, func(l letter) bool { return l.from == link.from && l.to == link.to })
}

func (c *crew) deliver(i int) error {
	l := c.flight[i]
	c.flight = slices.Delete(c.flight, i, i+1)
	return c.step(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
}

// settle delivers until nothing is under way. That takes no longer than all of
// them need to tell all others a few things.
func (c *crew) settle() error {
	for range 20 * len(c.ms) * len(c.ms) {
		if len(c.flight) == 0 {
			return nil
		}
		if err := c.deliver(c.next(c.dice.below(len(c.flight)))); err != nil {
			return err
		}
	}
	if len(c.flight) > 0 {
		return fmt.Errorf("its messages do not end: %d are under way", len(c.flight))
	}
	return nil
}

// serve lets whoever is inside leave, one after the other, until nobody waits.
func (c *crew) serve() error {
	for i := slices.Index(c.phase, inside); i >= 0; i = slices.Index(c.phase, inside) {
		if err := c.leave(algorithm.ID(i)); err != nil {
			return err
		}
		if err := c.settle(); err != nil {
			return err
		}
	}
	if i := slices.Index(c.phase, waiting); i >= 0 {
		return fmt.Errorf("%v waits forever", algorithm.ID(i))
	}
	return nil
}

// An act is one of the things that can happen to a crew.
type act struct {
	what string
	do   func() error
	self algorithm.ID
}

// acts lists what can happen now, in an order that is always the same.
func (c *crew) acts() []act {
	var list []act
	for i, l := range c.flight {
		if c.next(i) == i {
			list = append(list, act{fmt.Sprintf("gets %x of %v", l.bytes, l.from), func() error { return c.deliver(i) }, l.to})
		}
	}
	for self := range algorithm.ID(len(c.ms)) {
		switch c.phase[self] {
		case idle:
			list = append(list, act{"asks", func() error { return c.ask(self) }, self})
		case inside:
			list = append(list, act{"leaves", func() error { return c.leave(self) }, self})
		}
	}
	return list
}
