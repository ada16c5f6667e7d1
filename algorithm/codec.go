package algorithm

// A Codec writes and reads a Fielder that is no machine and no message: what a
// host keeps beside them. The zero Codec is ready; one is used by one goroutine
// at a time.
type Codec struct{ c Coder }

// Append appends the fields of f, for n seats.
func (k *Codec) Append(b []byte, n int, f Fielder) []byte {
	c := &k.c
	c.mode, c.n, c.buf = encode, n, b
	f.Fields(c)
	b, c.buf = c.buf, nil
	return b
}

// Load reads what Append wrote, all of it.
func (k *Codec) Load(b []byte, n int, f Fielder) error {
	c := &k.c
	c.mode, c.n, c.buf, c.err = decode, n, b, nil
	f.Fields(c)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("end", "%d bytes too many", len(c.buf))
	}
	c.buf = nil
	return c.err
}
