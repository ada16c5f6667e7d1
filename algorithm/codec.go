package algorithm

// A Codec encodes and decodes a Fielder that is neither a machine nor a message, such as
// data that a host keeps beside them. The zero Codec is ready to use. A Codec must not be
// used by several goroutines at once.
type Codec struct{ c Coder }

// Append appends the encoding of f's fields to b, for n seats.
func (k *Codec) Append(b []byte, n int, f Fielder) []byte {
	c := &k.c
	c.mode, c.n, c.buf = encode, n, b
	f.Fields(c)
	b, c.buf = c.buf, nil
	return b
}

// Load decodes into f what Append wrote, which must be all of b.
func (k *Codec) Load(b []byte, n int, f Fielder) error {
	c := &k.c
	c.mode, c.n, c.buf, c.err = decode, n, b, nil
	f.Fields(c)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("end", "%d unexpected bytes", len(c.buf))
	}
	c.buf = nil
	return c.err
}
