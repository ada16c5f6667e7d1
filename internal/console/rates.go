package console

import (
	"math"
	"time"

	"github.com/stile-lock/stile/internal/survey"
)

// A counter computes rates of locks from what members have counted, look after look.
type counter struct {
	at     time.Time
	counts map[string]map[string]uint64 // by lock and member
	rates  map[string]float64
}

// count takes what members have counted by now. A member that did not list a lock before adds
// nothing to its rate, and neither does one that counts anew.
func (c *counter) count(all []survey.Lock) {
	now := time.Now()
	seconds := now.Sub(c.at).Seconds()
	counts, rates := map[string]map[string]uint64{}, map[string]float64{}
	for i := range all {
		l := &all[i]
		counts[l.Name] = l.Counts
		for member, n := range l.Counts {
			if old, known := c.counts[l.Name][member]; known && n >= old && seconds > 0 {
				rates[l.Name] += float64(n-old) / seconds
			}
		}
	}
	c.at, c.counts, c.rates = now, counts, rates
}

// rate returns how often a lock was acquired per second between the last two counts; nil if
// that is not known.
func (c *counter) rate(name string) *float64 {
	r, ok := c.rates[name]
	if !ok {
		return nil
	}
	r = rounded(r)
	return &r
}

// rounded returns a number with three digits after the point.
func rounded(x float64) float64 { return math.Round(x*1000) / 1000 }

// significant returns a number with three digits.
func significant(x float64) float64 {
	if x == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-2)
	if unit < 1 {
		per := math.Round(1 / unit)
		return math.Round(x*per) / per
	}
	return math.Round(x/unit) * unit
}
