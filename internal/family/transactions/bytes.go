package transactions

// Append implements family.Env. What processes ask for is not part of the state: it
// follows from their programs, and from what they have cancelled.
func (e *Env) Append(b []byte) []byte {
	b = append(b, pack(e.aborts, e.deaths))
	for i := range e.clients {
		c := &e.clients[i]
		b = append(b, byte(c.left), byte(c.got), pack(c.active, c.waits, c.arrived, c.doomed, c.spared, c.jammed))
		if e.Cancels > 0 {
			b = append(b, c.skipped)
		}
	}
	if e.Cancels > 0 {
		b = append(b, byte(e.cancels))
	}
	for k := 0; e.shared && k < len(e.queues); k++ {
		b = append(b, byte(len(e.queues[k])))
		for _, p := range e.queues[k] {
			b = append(b, byte(p))
		}
	}
	return b
}

// Load implements family.Env.
func (e *Env) Load(b []byte) []byte {
	for k := range e.holders {
		e.holders[k], e.queues[k] = e.holders[k][:0], e.queues[k][:0]
	}
	e.aborts, e.deaths = b[0]&1 != 0, b[0]&2 != 0
	b = b[1:]
	for i := range e.clients {
		c, f := &e.clients[i], b[2]
		c.left, c.got = int(b[0]), int(b[1])
		b = b[3:]
		if e.Cancels > 0 {
			c.skipped, b = b[0], b[1:]
		}
		e.turn(i)
		c.active, c.waits, c.arrived, c.doomed, c.spared, c.jammed = f&1 != 0, f&2 != 0, f&4 != 0, f&8 != 0, f&16 != 0, f&32 != 0
		for _, k := range c.program[:c.got] {
			e.holders[k] = append(e.holders[k], int32(i))
		}
	}
	if e.Cancels > 0 {
		e.cancels, b = int(b[0]), b[1:]
	}
	for k := 0; e.shared && k < len(e.queues); k++ {
		n := int(b[0])
		for _, p := range b[1 : n+1] {
			e.queues[k] = append(e.queues[k], int32(p))
		}
		b = b[n+1:]
	}
	return b
}

func pack(flags ...bool) (b byte) {
	for i, f := range flags {
		if f {
			b |= 1 << i
		}
	}
	return b
}
