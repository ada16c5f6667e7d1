package sim

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

func ring(n int) Config {
	return Config{
		Spec: mutex.TokenRing(), Nodes: n, Entries: 400, Seed: 1, Burst: 1,
		Hold: scenario.Always(2 * scenario.T), Latency: scenario.Always(scenario.T),
	}
}

// stile-lab sim token-ring --hold 2
//
// Nobody waits longer than N*T + (N-1)*H, and at saturation everybody but the
// first ones waits exactly so long.
func TestLongestWaitOfTheRing(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for _, latency := range []scenario.Dist{scenario.Always(scenario.T), scenario.Uniform(scenario.T/2, 3*scenario.T)} {
			for _, hold := range []scenario.Dist{scenario.Always(0), scenario.Always(2 * scenario.T), scenario.Uniform(0, 4*scenario.T)} {
				for _, think := range []scenario.Dist{scenario.Always(0), scenario.Exponential(3 * scenario.T), scenario.Exponential(30 * scenario.T)} {
					c := ring(n)
					c.Latency, c.Hold, c.Think = latency, hold, think
					r, err := Run(c)
					if err != nil || r.Violations > 0 {
						t.Fatalf("N=%d: %v", n, err)
					}
					if r.Theory.Wait == nil || r.Wait.Max > *r.Theory.Wait+1e-9 {
						t.Errorf("N=%d, latency %v, hold %v, think %v: somebody waited %v, and theory says %v", n, latency, hold, think, r.Wait.Max, r.Theory.Wait)
					}
				}
			}
		}
		r, err := Run(ring(n))
		if err != nil {
			t.Fatal(err)
		}
		want := float64(n + 2*(n-1))
		if n == 1 {
			want = 0
		}
		if *r.Theory.Wait != want || r.Wait.Max != want {
			t.Errorf("N=%d: the longest wait is %v, theory says %v; want %v of both", n, r.Wait.Max, *r.Theory.Wait, want)
		}
	}
}

// A lock that lets others wait longer is seen: the bound is not what is measured.
func TestLongestWaitIsMeasured(t *testing.T) {
	c := ring(5)
	c.Spec = mutex.SuzukiKasami()
	c.Spec.Theory.Wait = func(n int, latency, hold float64) float64 { return latency + hold }
	r, err := Run(c)
	if err != nil || r.Wait.Max <= *r.Theory.Wait {
		t.Errorf("%v: the longest wait among five is %v, theory says %v", err, r.Wait.Max, *r.Theory.Wait)
	}
}

// Where something may take any time nothing is claimed.
func TestLongestWaitUnknown(t *testing.T) {
	any := scenario.Exponential(scenario.T)
	for name, change := range map[string]func(c *Config){
		"exponential latency": func(c *Config) { c.Latency = any },
		"exponential hold":    func(c *Config) { c.Hold = any },
		"one such link":       func(c *Config) { c.Links = []script.Link{{From: 0, To: 1, Latency: any}} },
		"work":                func(c *Config) { c.Work = func(algorithm.ID, int64) int64 { return scenario.T } },
		"another algorithm":   func(c *Config) { c.Spec = mutex.RicartAgrawala() },
	} {
		c := ring(4)
		change(&c)
		if w := c.longestWait(); w != nil {
			t.Errorf("%s: %v", name, *w)
		}
	}
	slow := ring(4)
	slow.Links = []script.Link{{From: 0, To: 1, Latency: scenario.Always(5 * scenario.T)}}
	if w := slow.longestWait(); w == nil || *w != 4*5+3*2 {
		t.Errorf("with one slow link: %v, want 26", w)
	}
}
