package trail

import (
	"testing"

	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
)

// begins is the first mark of a trail.
func begins(epoch uint64) *member.Mark {
	v := &member.TrailView{Epoch: epoch, Members: []member.Who{{Name: "a", Inc: 1}, {Name: "b", Inc: 2}}, Sent: []uint64{0, 0}, Came: []uint64{0, 0}}
	return &member.Mark{Kind: member.MarkBegan, View: v, State: []byte{0}}
}

// step is the nth step after it: it sends a frame, and has received one.
func step(n int) *member.Mark {
	return &member.Mark{
		Kind: member.MarkStep, Input: host.Receive, From: 1, Came: uint64(n), State: []byte{byte(n)},
		Sends: []member.MarkSend{{To: 1, Bytes: []byte{1}, Went: uint64(2 * n)}},
	}
}

// read reads all that there is, as a reader with a log does.
func read(t *testing.T, tail *Tail, l *Log) (begins int) {
	t.Helper()
	for {
		p := tail.Read(l.Next)
		anew, err := l.Take(&p, 0)
		if err != nil {
			t.Fatal(err)
		}
		if anew {
			begins++
		}
		if !p.More {
			return begins
		}
	}
}

// check reports whether a log has the steps from one to another and what leads to the first.
func check(t *testing.T, what string, l *Log, from, to int) {
	t.Helper()
	if len(l.Marks) != to-from+1 || l.Base == nil || int(l.Base.State[0]) != from-1 || int(l.Base.View.Came[1]) != from-1 || int(l.Base.View.Sent[1]) != 2*(from-1) {
		t.Fatalf("%s: %d marks, base %+v, want %d to %d", what, len(l.Marks), l.Base, from, to)
	}
	for i, k := range l.Marks {
		if int(k.Came) != from+i {
			t.Errorf("%s: mark %d is that of step %d", what, i, k.Came)
		}
	}
}

// Readers get every mark once and in order, whenever they read. When marks are dropped
// because they are not read, a reader gets what there is without a gap, and then begins anew.
func TestTail(t *testing.T) {
	tail := &Tail{most: 10}
	var l Log
	if read(t, tail, &l) != 0 || l.Base != nil {
		t.Fatal("it begins before its first mark")
	}
	tail.Add(begins(7))
	n := 0
	add := func(count int) {
		for range count {
			n++
			tail.Add(step(n))
		}
	}
	add(3)
	if read(t, tail, &l) != 1 {
		t.Error("it does not begin")
	}
	check(t, "first", &l, 1, 3)
	for range 20 {
		add(4)
		if read(t, tail, &l) != 0 {
			t.Fatal("it begins anew although all is read")
		}
	}
	check(t, "steadily", &l, 1, n)
	var late Log
	read(t, tail, &late)
	check(t, "a second reader", &late, n+1-len(late.Marks), n)

	behind := n
	add(50) // more than there is room for
	if read(t, tail, &l) != 1 || n-behind != 50 {
		t.Fatal("it does not begin anew after marks were dropped")
	}
	check(t, "after the gap", &l, n+1, n)
	add(2)
	read(t, tail, &l)
	check(t, "going on", &l, n-1, n)

	l.Keep(1)
	check(t, "shortened", &l, n, n)
	tail.Add(begins(8))
	n = 0
	if read(t, tail, &l); l.Epoch() != 8 {
		t.Errorf("epoch %d", l.Epoch())
	}
	check(t, "another view", &l, 1, 0)
}

// The marks before a gap are read before it begins anew: a reader who reads seldom still gets
// runs without a gap.
func TestTailBeforeGap(t *testing.T) {
	tail := &Tail{most: 10}
	tail.Add(begins(1))
	for i := range 30 {
		tail.Add(step(i + 1))
	}
	p := tail.Read(0)
	if p.Base == nil || len(p.Marks) != 10 || !p.More || p.Marks[9].Came != 10 {
		t.Fatalf("%+v", p)
	}
	if p = tail.Read(p.Next); p.Base == nil || p.Base.State[0] != 30 || len(p.Marks) != 0 || p.More {
		t.Errorf("%+v", p)
	}
}

// What no node of this version says is refused.
func TestLogRefuses(t *testing.T) {
	for name, change := range map[string]func(p *Page){
		"no view":       func(p *Page) { p.Base.View = nil },
		"another seat":  func(p *Page) { p.Base.View.Seat = 2 },
		"no members":    func(p *Page) { p.Base.View.Members = nil },
		"other counts":  func(p *Page) { p.Base.View.Sent = nil },
		"no beginning":  func(p *Page) { p.Base.Kind = member.MarkStep },
		"unknown from":  func(p *Page) { p.Marks[0].From = 2 },
		"unknown to":    func(p *Page) { p.Marks[0].Sends[0].To = -1 },
		"unknown peer":  func(p *Page) { p.Marks[0].Peer = 7 },
		"from none":     func(p *Page) { p.Marks[0].From = -1 },
		"nothing":       func(p *Page) { p.Marks[0] = nil },
		"another began": func(p *Page) { p.Marks[0].Kind = member.MarkBegan },
	} {
		p := Page{Base: begins(1), Marks: []*member.Mark{step(1)}}
		change(&p)
		var l Log
		if _, err := l.Take(&p, 0); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
