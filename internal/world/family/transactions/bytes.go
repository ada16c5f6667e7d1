package transactions

// Append implements family.Env. What processes ask for is not part of the state: it
// follows from their programs.
func (e *Env) Append(b []byte) []byte {
	b = append(b, pack(e.aborts, e.deaths))
	for i := range e.clients {
		c := &e.clients[i]
		b = append(b, byte(c.left), byte(c.got), pack(c.active, c.waits, c.arrived, c.doomed, c.spared))
	}
	return b
}

// Load implements family.Env.
func (e *Env) Load(b []byte) []byte {
	for k := range e.holder {
		e.holder[k] = -1
	}
	e.aborts, e.deaths = b[0]&1 != 0, b[0]&2 != 0
	b = b[1:]
	for i := range e.clients {
		c, f := &e.clients[i], b[2]
		c.left, c.got = int(b[0]), int(b[1])
		e.turn(i)
		c.active, c.waits, c.arrived, c.doomed, c.spared = f&1 != 0, f&2 != 0, f&4 != 0, f&8 != 0, f&16 != 0
		for _, k := range c.program[:c.got] {
			e.holder[k] = int32(i)
		}
		b = b[3:]
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
