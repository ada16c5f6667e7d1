package storm

import "github.com/stile-lock/stile/internal/member"

const million = 1_000_000

// A clock is a process's own clock. It has an offset, and it drifts.
type clock struct {
	base int64          // true time
	read member.Instant // its reading at that time
	rate int64          // how much faster than true time it has run since, in millionths
}

// at returns the clock's reading at a true time.
func (c *clock) at(now int64) member.Instant {
	d := now - c.base
	return c.read + member.Instant(d+floor(d*c.rate, million))
}

// when returns the first true time at which the clock shows a reading.
func (c *clock) when(x member.Instant) int64 {
	d := int64(x - c.read)
	now := c.base + d*million/(million+c.rate)
	for c.at(now) >= x {
		now--
	}
	for c.at(now) < x {
		now++
	}
	return now
}

// tune changes the rate of the clock from now on.
func (c *clock) tune(now, rate int64) {
	c.base, c.read, c.rate = now, c.at(now), rate
}

// floor divides and rounds down.
func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
