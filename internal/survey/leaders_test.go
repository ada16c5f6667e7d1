package survey

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/member"
)

// What Observe yields follows from what nodes report: every term in order, none twice, and
// no end that is only a node's silence.
func TestObserver(t *testing.T) {
	leads := func(node string, count uint64, value string) Leader {
		return Leader{Who: node, Node: node, Value: value, Term: member.Token{Epoch: 1, Count: count}}
	}
	list := func(all ...Leader) []Leader { return all }
	silent := errors.New("a node did not answer")
	none := Leader{}
	var o observer
	start := time.Now()
	for i, x := range []struct {
		what      string
		at        time.Duration
		now, past []Leader
		err       error
		want      []Leader
	}{
		{"not all have answered", 0, nil, nil, silent, nil},
		{"none leads", 0, nil, nil, nil, list(none)},
		{"still none", 0, nil, nil, nil, nil},
		{"the first", 0, list(leads("a", 1, "x")), nil, nil, list(leads("a", 1, "x"))},
		{"the same", 0, list(leads("a", 1, "x")), nil, silent, nil},
		{"another value", 0, list(leads("a", 1, "y")), nil, nil, list(leads("a", 1, "y"))},
		{"its node is silent", 0, nil, nil, silent, nil},
		{"the next ones", 0, list(leads("b", 4, "")), list(leads("c", 3, "z"), leads("a", 1, "y"), leads("b", 2, "")), nil, list(leads("b", 2, ""), leads("c", 3, "z"), leads("b", 4, ""))},
		{"an older one, of a late answer", 0, list(leads("b", 4, ""), leads("a", 1, "y")), list(leads("c", 3, "z")), nil, nil},
		{"it resigns, but not all have answered", 0, nil, list(leads("b", 4, "")), silent, nil},
		{"it resigns", 0, nil, list(leads("b", 4, "")), nil, list(none)},
		{"short ones", 0, nil, list(leads("a", 5, ""), leads("b", 6, "")), nil, list(leads("a", 5, ""), leads("b", 6, ""), none)},
		{"one leads", 0, list(leads("a", 7, "v")), nil, nil, list(leads("a", 7, "v"))},
		{"its node is gone", 0, nil, nil, nil, nil},
		{"its lease runs", 9, nil, nil, nil, nil},
		{"its client has moved", 9, list(leads("b", 7, "v")), nil, nil, list(leads("b", 7, "v"))},
		{"another node is gone", 20, nil, nil, nil, nil},
		{"its lease has expired", 30, nil, nil, nil, list(none)},
		{"and another leads", 30, list(leads("c", 8, "")), nil, nil, list(leads("c", 8, ""))},
	} {
		s := &surveyed{now: x.now, past: x.past, err: x.err, lease: 10 * time.Second}
		if got := twice(&o, s, start.Add(x.at*time.Second)); !slices.Equal(got, x.want) {
			t.Errorf("%d, %s: %v, want %v", i, x.what, got, x.want)
		}
	}
	if got := o.since(); got != "1.7" {
		t.Errorf("asks for terms after %s, and would not learn of the end of 1.8", got)
	}
	var after observer
	before := &surveyed{past: list(leads("a", 5, ""))}
	if got := twice(&after, before, start); !slices.Equal(got, list(none)) {
		t.Errorf("an observer that begins after the last leader sees %v", got)
	}
	before.past = append(before.past, leads("b", 6, ""))
	if got := twice(&after, before, start); !slices.Equal(got, list(leads("b", 6, ""), none)) {
		t.Errorf("and then %v, want only what came later", got)
	}
	var late observer
	s := &surveyed{now: list(leads("b", 4, ""), leads("a", 3, "")), past: list(leads("a", 2, ""))}
	if got := twice(&late, s, start); !slices.Equal(got, list(leads("b", 4, ""))) {
		t.Errorf("an observer that begins sees %v, want the present leader", got)
	}
	var racing observer
	twice(&racing, &surveyed{now: list(leads("a", 1, ""))}, start)
	if got := racing.take(&surveyed{now: list(leads("b", 3, "")), past: list(leads("a", 1, ""))}, start); got != nil || !racing.more {
		t.Errorf("a node that was asked too early to report term 2 is not asked again: %v", got)
	}
	if got := racing.take(&surveyed{now: list(leads("b", 3, "")), past: list(leads("a", 1, ""), leads("c", 2, ""))}, start); !slices.Equal(got, list(leads("c", 2, ""), leads("b", 3, ""))) {
		t.Errorf("an observer that asks again sees %v", got)
	}
}

// twice takes a survey as often as the observer asks for.
func twice(o *observer, s *surveyed, now time.Time) []Leader {
	news := o.take(s, now)
	for o.more {
		news = append(news, o.take(s, now)...)
	}
	return news
}
