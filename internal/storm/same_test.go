package storm

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/lab/trace"
)

// twice makes a run twice, the second time with an observer, and reports whether they were
// the same: the digest includes every byte of every message that was sent, its sender, its
// receiver and its time, those among voters too.
func twice(t *testing.T, c Config) (a *Result, same bool) {
	t.Helper()
	a, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Strikes = Draw(c)
	b, err := run(c, func(trace.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return a, *a == *b
}

// A seed gives the same run, to the byte, whether or not it is observed; and another seed
// gives another one.
func TestSame(t *testing.T) {
	seen := map[uint64]uint64{}
	voters := 0
	for seed := range nightly.Pick[uint64](4, 18) {
		c := pick(seed)
		a, same := twice(t, c)
		if !same {
			t.Errorf("seed %d: it is not the same twice", seed)
		}
		if other, ok := seen[a.Digest]; ok {
			t.Errorf("seeds %d and %d give the same run", seed, other)
		}
		seen[a.Digest] = seed
		if a.Terms > 1 {
			voters++
		}
	}
	if voters < 1 {
		t.Errorf("only %d runs in which voters vote", voters)
	}
}

// Careless logs start voters with seeds of their own.
type careless struct {
	views.Logs
	started *uint64
}

func (l careless) Start(state []byte, m views.Machine, seed uint64) (views.Log, error) {
	*l.started++
	return l.Logs.Start(state, m, seed^*l.started<<8)
}

// Chance that does not come from the seed is noticed: here the patience of voters
// depends on how many there were in the program before.
func TestNotSame(t *testing.T) {
	started := uint64(0)
	for seed := range uint64(20) {
		c := pick(seed)
		reigns(&c)
		c.Logs = careless{logs, &started}
		if _, same := twice(t, c); !same {
			return
		}
	}
	t.Error("what voters draw by chance does not show")
}

// One changed bit of a message gives another digest, and so does another sender, receiver
// or time.
func TestDigest(t *testing.T) {
	c := pick(1)
	c.Nodes, c.Strikes = 3, []Strike{}
	digest := func(wait int64, from, to int, b string) uint64 {
		w := newWorld(c, nil)
		w.Wait(wait)
		w.network.send(firstProc+algorithm.ID(from), firstProc+algorithm.ID(to), []byte(b))
		return w.result.Digest
	}
	all := map[uint64]bool{}
	for _, d := range []uint64{
		digest(1, 0, 1, "\x02a letter of a voter"), digest(2, 0, 1, "\x02a letter of a voter"),
		digest(1, 1, 0, "\x02a letter of a voter"), digest(1, 0, 2, "\x02a letter of a voter"),
		digest(1, 0, 1, "\x02a letter of a votes"), digest(1, 0, 1, "\x02b letter of a voter"),
		digest(1, 0, 1, "\x02a letter of a voter\x00"), digest(1, 0, 1, "\x02a mother of a voter"),
	} {
		all[d] = true
	}
	if len(all) != 8 {
		t.Errorf("%d digests of 8 messages", len(all))
	}
}
