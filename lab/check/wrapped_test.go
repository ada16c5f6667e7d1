package check

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/script"
)

// wrapped is the family of locks with another environment around the usual one,
// which is made for a property to be watched.
func wrapped(watch string, wrap func(e *locks.Env) family.Env) *family.Family {
	f := locks.Family()
	f.Env = func(o family.Options) (family.Env, error) {
		e, err := locks.New(locks.Config{
			Nodes: o.Nodes, Asks: o.Asks, Requests: o.Requests, Order: watch == Order, Fence: watch == Fence,
		})
		if err != nil {
			return nil, err
		}
		return wrap(e), nil
	}
	return f
}

// forgetful are applications that do not look at the entry count on messages of
// one kind.
type forgetful struct {
	*locks.Env
	kind byte
	tag  family.Tag
}

func (f *forgetful) New() family.Env { return &forgetful{Env: f.Env.New().(*locks.Env), kind: f.kind} }

func (f *forgetful) Copy(from family.Env) { f.Env.Copy(from.(*forgetful).Env) }

func (f *forgetful) Caused(_ algorithm.ID, t family.Tag) { f.tag = t }

func (f *forgetful) Took(h family.Host, p algorithm.ID, in host.Input, entered bool, notices []host.Notice) {
	if in.Kind == host.Receive && in.Bytes[0] != f.kind {
		f.Env.Caused(p, f.tag)
	}
	f.Env.Took(h, p, in, entered, notices)
}

// The entry count: in a group that talks by messages alone, who goes in next
// has always heard of the last entry, or it would not be safe. So the bugs are
// in how the count travels: what grants must carry it, and what tells of an
// exit; a request need not.
func TestFenceFindsItsBug(t *testing.T) {
	nightly.Only(t)
	for _, c := range []struct {
		spec algorithm.Spec
		kind string
		bad  bool
	}{
		{mutex.RicartAgrawala(), "REQUEST", false},
		{mutex.RicartAgrawala(), "OK", true},
		{mutex.Central(0), "REQUEST", false},
		{mutex.Central(0), "GRANT", true},
		{mutex.Central(0), "RELEASE", true},
		{mutex.SuzukiKasami(), "REQUEST", false},
		{mutex.SuzukiKasami(), "TOKEN", true},
	} {
		kind := slices.Index(c.spec.Kinds, c.kind)
		if kind < 0 {
			t.Fatalf("%s has no message %s", c.spec.Name, c.kind)
		}
		f := wrapped(Fence, func(e *locks.Env) family.Env { return &forgetful{Env: e, kind: byte(kind)} })
		r, err := Run(Config{Spec: c.spec, Family: f, Nodes: 3, Network: c.spec.Network, Requests: 2, Properties: []string{MutualExclusion, Deadlock, Fence}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Properties {
			if (p.Verdict == Violated) != (c.bad && p.Name == Fence) {
				t.Errorf("%s, %s without the count: %s is %s", c.spec.Name, c.kind, p.Name, p.Verdict)
			}
		}
	}
}

// chatty are applications that talk at any time, not only right before a
// request.
type chatty struct{ *locks.Env }

func (c chatty) New() family.Env { return chatty{c.Env.New().(*locks.Env)} }

func (c chatty) Copy(from family.Env) { c.Env.Copy(from.(chatty).Env) }

func (c chatty) Acts(h family.Host, yield func(a family.Act)) bool {
	c.Env.Acts(h, yield)
	for q := range algorithm.ID(c.Nodes) {
		for p := range algorithm.ID(c.Nodes) {
			if c.Tag(p)&^c.Tag(q) != 0 {
				yield(family.Act{Kind: script.Tell, Proc: p, Peer: q})
			}
		}
	}
	return false
}

func (c chatty) Do(h family.Host, a family.Act) {
	if a.Kind != script.Tell {
		c.Env.Do(h, a)
		return
	}
	c.Caused(a.Peer, c.Tag(a.Proc))
	h.Step(a.Peer, host.Input{Kind: host.Hear, From: algorithm.None, Time: h.Machine(a.Proc).Clock()})
}

// Applications talk only right before a request. That they need not talk at
// other times is validated here for every algorithm, with and without the
// claim, and for some that do not take over the clock: the verdict is the same,
// and so is the length of the shortest counterexample.
func TestTalkRightBeforeRequests(t *testing.T) {
	nightly.Only(t)
	specs := append(catalog.All(), deaf(mutex.RicartAgrawala()), deaf(mutex.Lamport()))
	saved := int64(0)
	for _, spec := range specs {
		for n := 2; n <= 3; n++ {
			c := Config{Spec: spec, Nodes: n, Network: spec.Network, Properties: []string{OrderOpen}}
			if n == 3 {
				c.Requests, c.Network = 1, algorithm.FIFO // or bakery takes too long
			}
			if spec.Accepts(n) != nil || n == 3 && !nightly.On() {
				continue
			}
			few := mustRun(t, c)
			c.Family = wrapped(Order, func(e *locks.Env) family.Env { return chatty{e} })
			all := mustRun(t, c)
			if p, q := few.Properties[0], all.Properties[0]; p.Verdict != q.Verdict || len(p.Trace) != len(q.Trace) || p.Verdict == Unfinished {
				t.Errorf("%s among %d: %s in %d steps if applications talk at any time, %s in %d if right before requests", spec.Name, n, q.Verdict, len(q.Trace), p.Verdict, len(p.Trace))
			}
			if few.Verdict != Violated {
				saved += all.States - few.States
			}
		}
	}
	if saved < 1000 {
		t.Errorf("%d states saved: the reduction does nothing", saved)
	}
}

func mustRun(t testing.TB, c Config) *Report {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
