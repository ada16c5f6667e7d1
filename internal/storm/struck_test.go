package storm

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// Every strike is described by the process it has hit; and there is one of every kind.
func TestBlows(t *testing.T) {
	told, place := map[string]bool{}, regexp.MustCompile(`\bp\d+\b`)
	for seed := uint64(1); seed <= 30; seed++ {
		c := pick(seed)
		if seed%10 == 0 {
			c.Faults |= Beyond // which few storms have
		}
		if seed%10 == 5 {
			returns(&c)
		}
		tr, r, err := Record(c, member.Span(math.MaxInt64), 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		blows := StruckFaults(tr)
		if len(blows) != r.Strikes {
			t.Errorf("seed %d: %d strikes happened, %d are told", seed, r.Strikes, len(blows))
		}
		for _, b := range blows {
			told[b.Kind] = true
			f, err := ParseFaults(b.Kind)
			if err != nil || !c.Faults.has(f) || b.Text == "" || strings.Contains(b.Text, "%!") || strings.Contains(b.Text, "-1 ms") {
				t.Errorf("seed %d: %+v, %v", seed, b, err)
			}
			if f.has(Crash|Pause|Break|Oneway|Partition|Slow|Drift|Join|Leave|Roll|Evict|Sever) && !place.MatchString(b.Text) {
				t.Errorf("seed %d: whom has it hit? %+v", seed, b)
			}
		}
	}
	for _, kind := range FaultNames() {
		if !told[kind] {
			t.Errorf("no %s is told", kind)
		}
	}
}
