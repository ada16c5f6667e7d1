package storm

import (
	"fmt"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/trace"
	"math"
	"os"
	"strconv"
	"testing"
)

func TestDbg(t *testing.T) {
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	c := pick(uint64(seed))
	if os.Getenv("CALM") != "" {
		c.Faults &= Drift
		c.Strikes = []Strike{}
	}
	before := member.Span(math.MaxInt64)
	if b, err := strconv.Atoi(os.Getenv("LAST")); err == nil {
		before = member.Span(b) * member.Millisecond
	}
	tr, r, err := Record(c, before, 4000)
	fmt.Println(c.Nodes, c.Voters, c.Shelter, c.Algorithms[0], c.Settings, err, r.Violation, r.Terms, r.Views)
	if tr != nil {
		os.WriteFile("/tmp/dbg.txt", []byte(tr.Text(trace.TextOptions{})), 0o644)
	}
}
