package storm

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/trace"
)

// banking returns the run of a seed with a bank.
func banking(seed uint64) Config {
	c := pick(seed)
	c.Bank = true
	return c
}

// Whatever strikes, the totals are exact; and the fence was needed.
func TestBank(t *testing.T) {
	var sum Books
	seeds := nightly.Pick(8, 60)
	for seed := range uint64(seeds) {
		c := banking(seed)
		if seed%2 == 0 {
			c.Faults, c.Intensity = Pause|Client, 30
		}
		r, err := Run(c)
		if err != nil || r.Violation != nil {
			t.Fatalf("seed %d: %v, %v", seed, r.Violation, err)
		}
		if b := &r.Books; !b.Exact() || b.Total != b.Expected || b.Expected != int64(c.Locks)*accounts*opening || b.Transfers != r.Deposits {
			t.Errorf("seed %d: %d writes and %+v", seed, r.Deposits, b)
		}
		sum.Add(&r.Books)
	}
	t.Logf("%+v", sum)
	if !sum.Exact() || sum.Transfers < 125*seeds || sum.Moved < int64(100*sum.Transfers) || sum.Stale < max(1, seeds/30) {
		t.Errorf("in all: %+v", sum)
	}
}

// If no process is paused and nothing is late, there is nothing to fence off: customers
// hold their locks until they have written.
func TestBankWithoutNeed(t *testing.T) {
	var sum Books
	seeds := nightly.Pick(3, 30)
	for seed := range uint64(seeds) {
		c := banking(seed)
		c.Unfenced = true
		c.Faults &= Crash | Drift | Evict | Leave | Join | Switch | Forget
		r, err := Run(c)
		if err != nil || r.Violation != nil {
			t.Fatalf("seed %d: %v, %v", seed, r.Violation, err)
		}
		sum.Add(&r.Books)
	}
	if !sum.Exact() || sum.Stale > 0 || sum.Transfers < 100*seeds {
		t.Errorf("in all: %+v", sum)
	}
}

// Without a bank there are no books.
func TestNoBank(t *testing.T) {
	c := pick(3)
	a, err := Run(c)
	if err != nil || a.Books != (Books{}) {
		t.Fatalf("%+v, %v", a, err)
	}
	c.Bank = true
	if b, err := Run(c); err != nil || b.Digest == a.Digest {
		t.Errorf("the bank changes nothing: %v", err)
	}
}

// unfenced returns a run that loses money, because its bank has no fence and a process is
// paused.
func unfenced(t *testing.T) (Config, *Result) {
	t.Helper()
	for seed := range uint64(40) {
		c := banking(seed)
		c.Unfenced = true
		c.Faults, c.Intensity = Pause|Client, 30
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			return c, r
		}
	}
	t.Fatal("no money is lost")
	return Config{}, nil
}

// Without the fence money is lost, and the story, the trace and the picture say
// how; with it the same storm loses none.
func TestUnfenced(t *testing.T) {
	nightly.Only(t)
	c, r := unfenced(t)
	if r.Violation.Invariant != Bank || r.Books.Exact() || r.Books.Stale == 0 {
		t.Errorf("%v, %+v", r.Violation, r.Books)
	}
	s, err := Shrink(c, 200)
	if err != nil || s.Violation.Invariant != Bank || len(s.Config.Strikes) > 4 {
		t.Fatalf("%v, %v", s, err)
	}
	all, _, err := Record(s.Config, member.Span(1<<60), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	tale := Lost(all)
	if len(tale) < 4 || !strings.Contains(tale[0].Text, " reads ") || !strings.Contains(tale[len(tale)-1].Text, "overwriting") {
		t.Errorf("how it came: %v", tale)
	}
	text := ""
	for _, e := range tale {
		text += e.Text + "\n"
	}
	for _, want := range []string{" paused\n", " resumes\n", "STALE"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	near := Closeup(all)
	if err := near.Check(); err != nil || near.N > all.N-1 || len(near.Events) < 6 || len(near.Events) >= len(all.Events)/2 {
		t.Errorf("the picture has %d lanes and %d events: %v", near.N, len(near.Events), err)
	}
	if svg := near.SVG(trace.Options{}); !strings.Contains(svg, "STALE WRITE") {
		t.Errorf("the picture is %s", svg)
	}
	c.Unfenced = false
	if r, err := Run(c); err != nil || r.Violation != nil || !r.Books.Exact() {
		t.Errorf("with the fence: %v, %v", r.Violation, err)
	}
}

// Of a run that loses nothing there is nothing to tell.
func TestNothingLost(t *testing.T) {
	all := &trace.Trace{N: 1}
	if tale := Lost(all); len(tale) > 0 || Closeup(all) != all {
		t.Errorf("%v", tale)
	}
}

// The bank finds what is planted, and nothing else.
func TestBankPlanted(t *testing.T) {
	old, young := member.Token{Epoch: 1, Count: 1}, member.Token{Epoch: 1, Count: 2}
	write := func(w *world, from algorithm.ID, t member.Token, values ...uint64) {
		w.tell(from, storeID, writeMsg, append([]uint64{0, t.Epoch, t.Count}, values...)...)
		w.store.receive(w, from, writeMsg, numbers(w.buf[1:]))
	}
	read := func(w *world, from algorithm.ID, t member.Token) {
		w.tell(from, storeID, readMsg, 0, t.Epoch, t.Count, 0, 1)
		w.store.receive(w, from, readMsg, numbers(w.buf[1:]))
	}
	for _, x := range []struct {
		what     string
		unfenced bool
		want     Invariant
		text     string
		plant    func(w *world)
	}{
		{"it takes half a transfer: the money never arrives", false, Bank, "p1 moves 100", func(w *world) { write(w, firstProc, young, 0, 1, 9_600, 10_100, 100) }},
		{"it gives without taking", false, Bank, "100 more", func(w *world) { write(w, firstProc, young, 1, 3, 10_100, 10_100, 100) }},
		{"a stale write is refused", false, "", "", func(w *world) { write(w, firstProc+1, old, 0, 3, 9_000, 11_000, 1_000) }},
		{"a stale write is accepted, though there is a fence", false, Fence, "1.1", func(w *world) {
			w.store.cells[0].seen = old
			write(w, firstProc+1, old, 2, 3, 9_900, 10_100, 100)
		}},
		{"a stale write is accepted, as there is none", true, Bank, "300 more", func(w *world) {
			write(w, firstProc+1, old, 0, 3, 9_000, 11_000, 1_000)
		}},
		{"who reads is seen, too", false, "", "", func(w *world) {
			read(w, firstProc, member.Token{Epoch: 3, Count: 1})
			write(w, firstProc+1, member.Token{Epoch: 2, Count: 1}, 0, 3, 9_000, 11_000, 1_000)
		}},
		{"money is gone at the end", false, Bank, "39,999", func(w *world) {
			w.store.branches[0][3].balance--
			w.audit()
		}},
	} {
		c := banking(1)
		c.Nodes, c.Locks, c.Strikes, c.Unfenced = 3, 1, []Strike{}, x.unfenced
		w := newWorld(c, nil)
		write(w, firstProc, young, 0, 1, 9_900, 10_100, 100)
		write(w, firstProc, young, 0, 2, 9_700, 10_200, 200)
		if w.result.Violation != nil {
			t.Fatalf("%s: broken before: %v", x.what, w.result.Violation)
		}
		x.plant(w)
		switch v := w.result.Violation; {
		case x.want == "" && v != nil:
			t.Errorf("%s: %v", x.what, v)
		case x.want != "" && (v == nil || v.Invariant != x.want || !strings.Contains(v.Text, x.text)):
			t.Errorf("%s: %v, want %s with %q", x.what, v, x.want, x.text)
		}
	}
}

// A customer writes once what it has read, and waits for each answer once.
func TestErrand(t *testing.T) {
	w := newWorld(banking(1), nil)
	token := member.Token{Epoch: 1, Count: 1}
	settled := func(e *visit) bool { return w.settled(firstProc, 0, token, e) }
	values := numbers{0, 1, 100, 7}
	for what, ok := range map[string]func() bool{
		"who has none may go":                func() bool { return settled(&visit{}) },
		"who waits for balances stays, once": func() bool { e := visit{state: asked}; return !settled(&e) && settled(&e) },
		"who has them writes, and stays, once": func() bool {
			e := visit{state: fetched, x: 5}
			return !settled(&e) && e.state == posted && settled(&e)
		},
		"who has nothing to move may go": func() bool { return settled(&visit{state: fetched, y: 5}) },
		"balances are taken": func() bool {
			e := visit{state: asked}
			return !e.answered(valueMsg, values) && e.state == fetched && e.x == 100 && e.y == 7
		},
		"and told to who waits": func() bool { e := visit{state: asked, waits: true}; return e.answered(valueMsg, values) },
		"but not twice":         func() bool { e := visit{state: posted, waits: true}; return !e.answered(valueMsg, values) && e.x == 0 },
		"what is saved is done": func() bool { e := visit{state: posted}; return e.answered(savedMsg, nil) && e.state == idle },
		"and nothing else is":   func() bool { e := visit{state: fetched}; return !e.answered(savedMsg, nil) && e.state == fetched },
		"until it is written there is much to do": func() bool {
			a, b, c := visit{state: asked}, visit{state: fetched}, visit{state: posted}
			return a.open() && b.open() && !c.open()
		},
	} {
		if !ok() {
			t.Error(what + ": it is not so")
		}
	}
}
