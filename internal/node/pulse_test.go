package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
)

// measured makes a node measure.
func measured(_ int, c *Config) { c.Metrics = true }

// told asks a node a question for a caller without an identity.
func told[A any](t *testing.T, n *Node, what uint64, query any) (a A) {
	t.Helper()
	b, err := json.Marshal(query)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := soon(t)
	defer cancel()
	if b, err = n.QueryFor(ctx, Caller{}, what, b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return a
}

func pulse(t *testing.T, n *Node) Pulse { t.Helper(); return told[Pulse](t, n, AskPulse, PulseQuery{}) }

// beats waits until something is so of a node's pulse.
func beats(t *testing.T, n *Node, what string, so func(p *Pulse) bool) Pulse {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	for {
		p := pulse(t, n)
		if so(&p) {
			return p
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: never %s: %+v", n.Name(), what, p)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A pulse has the sums of what is measured, and what was sent to each other member.
func TestPulse(t *testing.T) {
	all := start(t, 3, measured)
	for i := range 6 {
		n := all[i%3]
		release(t, acquire(t, n, "x"))
		release(t, acquire(t, n, fmt.Sprintf("other/%d", i)))
	}
	h := acquire(t, all[0], "y")
	local, remote := waiting(t, all[0], h), waiting(t, all[1], h)
	release(t, h)
	release(t, (<-local).lock)
	release(t, (<-remote).lock)
	all[2].SetHTTP("http://c:1")
	var remotely uint64
	for i, n := range all {
		p := pulse(t, n)
		acquired := []uint64{6, 5, 4}[i]
		if p.Node != n.Name() || !p.Member() || p.Acquired != acquired || !p.Measured || p.Started == 0 || p.At < p.Started || p.Margin > p.Lease {
			t.Errorf("%+v", p)
		}
		for what, d := range map[string]Durations{"waits": p.Wait, "holds": p.Hold} {
			sum := uint64(0)
			for _, n := range d.Counts {
				sum += n
			}
			if sum != acquired || len(d.Counts) != len(d.Bounds)+1 || d.Bounds[0] != 10e-6 || d.Sum < 0 {
				t.Errorf("%s: %s: %+v, want %d", p.Node, what, d, acquired)
			}
		}
		if i == 0 && p.Local == 0 {
			t.Error("no handover at the node")
		}
		remotely += p.Remote
		var sent, kinds uint64
		for _, n := range p.Sent {
			sent += n
		}
		for _, n := range n.Metrics().Traffic.Sent {
			kinds += n
		}
		if _, self := p.Sent[p.Node]; len(p.Sent) != 2 || self || sent == 0 || sent > kinds {
			t.Errorf("%s has sent frames to %v, and %d in all", p.Node, p.Sent, kinds)
		}
		if len(p.Complains) > 0 || len(p.Victims) > 0 || (p.HTTP == "http://c:1") != (i == 2) {
			t.Errorf("%+v", p)
		}
	}
	if remotely == 0 {
		t.Error("no handover between nodes")
	}
}

// A node that does not measure says so, and a pulse of nothing has no null in it.
func TestPulseUnmeasured(t *testing.T) {
	n := start(t, 1, nil)[0]
	release(t, acquire(t, n, "x"))
	if p := pulse(t, n); p.Measured || p.Margin != -1 || p.Acquired != 0 || len(p.Wait.Counts) != len(p.Wait.Bounds)+1 {
		t.Errorf("%+v", p)
	}
	if p := told[PastPage](t, n, AskPast, PastQuery{Name: "x"}); p.Measured || p.Node != "a" || len(p.Holds) > 0 {
		t.Errorf("%+v", p)
	}
	alone := run(t, Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{nobody(t)}, Metrics: true})
	for _, query := range []string{`{}`, `{"top":1}`, `{"names":["x"]}`} {
		if b, err := alone.QueryFor(t.Context(), Caller{}, AskLocks, []byte(query)); err == nil || !strings.Contains(err.Error(), "not a member at present") {
			t.Errorf("locks of a node that is not a member: %s %v", b, err)
		}
	}
	for _, what := range []uint64{AskPulse, AskPast} {
		for _, n := range []*Node{n, alone} {
			b, err := n.QueryFor(t.Context(), Caller{}, what, []byte("{}"))
			if err != nil || strings.Contains(string(b), "null") {
				t.Errorf("%s: %s, %v", n.Name(), b, err)
			}
		}
		if _, err := n.QueryFor(t.Context(), Caller{}, what, []byte("x")); err == nil || !strings.Contains(err.Error(), "malformed query") {
			t.Errorf("a malformed query: %v", err)
		}
	}
}

// A node tells whom it complains about.
func TestPulseComplains(t *testing.T) {
	w, all := lab(t, 3, nil)
	w.cut(1, 2)
	p := beats(t, all[1], "complaining", func(p *Pulse) bool { return len(p.Complains) > 0 })
	if !slices.Equal(p.Complains, []string{"c"}) {
		t.Errorf("%v", p.Complains)
	}
	if p := pulse(t, all[0]); len(p.Complains) > 0 {
		t.Errorf("a complains about %v", p.Complains)
	}
}

// A victim of a deadlock is told once, with the cycle, and only to those who may read all locks
// that it names.
func TestPulseVictims(t *testing.T) {
	n := start(t, 1, measured)[0]
	ctx, cancel := soon(t)
	defer cancel()
	want := func(tx uint64, name string) (lock.Handle, error) {
		return n.Lock(ctx, KeptPrefix+name, lock.Options{Terms: member.Terms{Tx: tx}})
	}
	for tx, name := range map[uint64]string{1: "mine", 2: "theirs"} {
		if _, err := want(tx, name); err != nil {
			t.Fatal(err)
		}
	}
	failed := make(chan error, 2)
	for tx, name := range map[uint64]string{1: "theirs", 2: "mine"} {
		go func() {
			_, err := want(tx, name)
			failed <- err
		}()
	}
	if err := <-failed; err == nil {
		t.Fatal("no deadlock")
	}
	p := beats(t, n, "a victim", func(p *Pulse) bool { return len(p.Victims) > 0 })
	v := p.Victims[0]
	mine := slices.ContainsFunc(v.Cycle, func(c CycleInfo) bool { return c.TxInfo == v.TxInfo && c.Lock == v.Lock })
	if len(p.Victims) != 1 || v.How != "cycle" || v.Who != "a" || v.Node != "a" || v.Single || !v.Waits || v.At < p.Started || v.At > p.At || len(v.Cycle) != 2 || !mine || !strings.Contains(v.Why, KeptPrefix+"mine") {
		t.Errorf("%+v", p.Victims)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.meter.Victims = []meter.Victim{{Tx: v.Tx, Why: n.victims[0].why}}
	if n.noteVictims(); len(n.victims) != 1 { // as when a client brings another lock of it here
		t.Errorf("one victim is noted twice: %+v", n.victims)
	}
	n.meter.Victims = nil
	var err error
	if n.rules, err = rights.Parse("[[rule]]\nwho = \"client/some\"\nlocks = \"kept/mine\"\nmay = \"read\"\n[[rule]]\nwho = [\"client/all\"]\nlocks = \"*\"\nmay = \"read\"", true); err != nil {
		t.Fatal(err)
	}
	all, some := Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "all"}}, Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "some"}}
	for _, x := range []struct {
		who  Caller
		by   string
		sees int
	}{{all, "", 1}, {some, "", 0}, {all, "client/all", 1}, {all, "client/some", 0}, {some, "client/all", 0}} {
		var p Pulse
		b, err := n.pulse(&PulseQuery{For: x.by}, &x.who)
		if err != nil || json.Unmarshal(b, &p) != nil || len(p.Victims) != x.sees || strings.Contains(string(b), "theirs") != (x.sees > 0) {
			t.Errorf("%s for %q sees %s, %v", x.who.Path(), x.by, b, err)
		}
	}
	if _, err := n.pulse(&PulseQuery{For: "nonsense"}, &all); err == nil {
		t.Error("for an impossible identity")
	}
}

// A request outside of transactions that is wounded is a victim, too; it holds its lock. Only
// the last victims are remembered.
func TestPulseSingles(t *testing.T) {
	n := start(t, 1, func(i int, c *Config) { c.Metrics, c.Algorithm = true, KeptPrefix+"=kept:wound-wait" })[0]
	old := lock.Options{Terms: member.Terms{Tx: 1}}
	ctx, cancel := soon(t)
	defer cancel()
	if _, err := n.Lock(ctx, KeptPrefix+"first", old); err != nil {
		t.Fatal(err)
	}
	x, err := n.Connect(ctx, Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "young"}}, client.Config{Name: "label"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxVictims + 1 {
		name := fmt.Sprintf("%sx%d", KeptPrefix, i)
		h, err := x.Lock(ctx, name, lock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			_, err := n.Lock(ctx, name, old)
			got <- err
		}()
		p := beats(t, n, "a victim", func(p *Pulse) bool {
			return slices.ContainsFunc(p.Victims, func(v VictimInfo) bool { return v.Lock == name })
		})
		v := p.Victims[len(p.Victims)-1]
		if len(p.Victims) > maxVictims || v.Lock != name || v.How != "wound" || !v.Single || v.Waits || v.Who != `client young (label "label") at a` || len(v.Cycle) != 1 || v.Cycle[0].Lock != name || v.Cycle[0].Tx == v.Tx {
			t.Fatalf("%+v", p.Victims)
		}
		release(t, h)
		if err := <-got; err != nil {
			t.Fatal(err)
		}
	}
	x.Close()
	if p := pulse(t, n); len(p.Victims) != maxVictims || p.Victims[0].Lock != KeptPrefix+"x1" || p.Victims[0].Identity != "client/young" {
		t.Errorf("%d victims, the first one is %+v", len(p.Victims), p.Victims[0])
	}
}

// The holds of a lock that have ended are told with who held it, also after the end of the
// client's session.
func TestPast(t *testing.T) {
	n := start(t, 1, measured)[0]
	ctx, cancel := soon(t)
	defer cancel()
	var tokens []string
	held := func(h lock.Handle, err error) lock.Handle {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		tokens = append([]string{h.Token().String()}, tokens...)
		return h
	}
	release(t, held(n.Lock(ctx, "x", lock.Options{})))
	x, err := n.Connect(ctx, Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "alice"}}, client.Config{Name: "<b>"})
	if err != nil {
		t.Fatal(err)
	}
	release(t, held(x.Lock(ctx, "x", lock.Options{})))
	forced := held(x.Lock(ctx, "x", lock.Options{}))
	if _, err := n.QueryFor(ctx, Caller{}, AskRelease, []byte("x")); err != nil || forced.Err() == nil && forced.Unlock() == nil {
		t.Fatal(err)
	}
	held(x.Lock(ctx, "x", lock.Options{}))
	x.Close()
	becomes(t, n, "free", func(s Status) bool { return s.Held == 0 && s.Clients == 0 })
	now := held(n.Lock(ctx, "x", lock.Options{}))
	p := told[PastPage](t, n, AskPast, PastQuery{Name: "x"})
	if !p.Measured || p.Node != "a" || len(p.Holds) != 4 {
		t.Fatalf("%+v", p)
	}
	before := 0.0
	for i, want := range []PastHold{
		{End: EndLost, Cause: "closed", Why: lock.Why(member.Closed)}, {End: EndForced, Why: lock.Why(member.Released)}, {End: EndReleased},
		{End: EndReleased, Party: Party{Who: "a"}},
	} {
		h := p.Holds[i]
		if want.Who == "" {
			want.Party = Party{Who: `client alice (label "<b>") at a`, Identity: "client/alice", Label: "<b>", Session: p.Holds[0].Session}
		}
		if want.Token, want.Acquired, want.Ended = tokens[i+1], h.Acquired, h.Ended; h != want {
			t.Errorf("%d: %+v, want %+v", i, h, want)
		}
		if h.Ended < before || h.Acquired < h.Ended || h.End == EndForced && h.Acquired == h.Ended {
			t.Errorf("%d: acquired %v s ago, ended %v s ago", i, h.Acquired, h.Ended)
		}
		before = h.Acquired
	}
	release(t, now)
	if p := told[PastPage](t, n, AskPast, PastQuery{Name: "y"}); len(p.Holds) > 0 {
		t.Errorf("another lock: %+v", p)
	}
	for range 2 * meter.Lasting {
		release(t, acquire(t, n, "x"))
	}
	if p := told[PastPage](t, n, AskPast, PastQuery{Name: "x"}); len(p.Holds) != meter.Lasting {
		t.Errorf("%d holds", len(p.Holds))
	}
}

// A node that asks for a caller is told what the caller may read: past holds, and the trail of
// a lock.
func TestPastFor(t *testing.T) {
	dir := authority(t)
	peer, _ := issued(t, dir, "peer", cert.Node)
	own, _ := issued(t, dir, "a", cert.Node)
	file := filepath.Join(dir, "rights.toml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	n := run(t, Config{Name: "a", Listen: "127.0.0.1:0", TLS: own.files, Rights: file, Metrics: true})
	ready(t, n)
	for _, x := range []struct {
		by, name string
		ok       bool
	}{
		{"", "mine/1", true}, {"", "theirs/1", true}, {"client/backup", "mine/1", true}, {"client/backup", "theirs/1", false},
		{"client/locker", "mine/1", false}, {"admin/alice", "theirs/1", true}, {"admin/bob", "mine/1", false}, {"nonsense", "mine/1", false},
	} {
		b, err := json.Marshal(PastQuery{Name: x.name, For: x.by})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = peer.ask(t.Context(), n, AskPast, string(b)); (err == nil) != x.ok {
			t.Errorf("%s for %q: %v", x.name, x.by, err)
		}
		if b, err = json.Marshal(TrailQuery{Name: x.name, For: x.by}); err != nil {
			t.Fatal(err)
		}
		if _, err = peer.ask(t.Context(), n, AskTrail, string(b)); (err == nil) != x.ok {
			t.Errorf("the trail of %s for %q: %v", x.name, x.by, err)
		}
	}
}

// Every cause for which a hold can end has an answer.
func TestPastCauses(t *testing.T) {
	t.Parallel()
	n := start(t, 1, nil)[0]
	n.mu.Lock()
	defer n.mu.Unlock()
	for cause, want := range map[member.Cause]string{
		member.NoCause: EndLost, member.Lease: EndLost, member.Session: EndLost, member.Closed: EndLost, member.Leaving: EndLost, member.Evicted: EndLost,
		member.Released: EndForced, member.Changed: EndLost, member.Moved: EndMoved,
	} {
		if got := n.pastHold(&meter.Past{Lost: true, Cause: cause}).End; got != want {
			t.Errorf("cause %d: %q, want %q", cause, got, want)
		}
	}
}

// Nodes ask each other for their pulses.
func TestPulseOfOthers(t *testing.T) {
	all := start(t, 2, measured)
	var p Pulse
	if err := all[0].AskAt(t.Context(), all[1].Address(), AskPulse, []byte("{}"), &p); err != nil || p.Node != "b" || !p.Measured {
		t.Errorf("%+v, %v", p, err)
	}
}
