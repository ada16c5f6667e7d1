package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/stile-lock/stile/internal/member"
)

// patience is how long a history may be judged.
const patience = 2 * time.Minute

// A lockOp is what a process does with a lock.
type lockOp struct {
	lock  string
	who   string
	token member.Token
	enter bool // else it lets go, or loses it
}

// A lockState is who holds a lock, and the highest token so far.
type lockState struct {
	who  string
	high member.Token
}

// lockModel is a lock (G2): one holder at a time, and each has a higher token than
// all before.
var lockModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		return byLock(history, func(o porcupine.Operation) string { return o.Input.(lockOp).lock })
	},
	Init: func() any { return lockState{} },
	Step: func(state, input, _ any) (bool, any) {
		s, op := state.(lockState), input.(lockOp)
		switch {
		case op.enter:
			return s.who == "" && s.high.Less(op.token), lockState{op.who, op.token}
		default:
			return s.who == op.who, lockState{"", s.high}
		}
	},
}

func byLock(history []porcupine.Operation, lock func(porcupine.Operation) string) [][]porcupine.Operation {
	all := map[string][]porcupine.Operation{}
	var order []string
	for _, o := range history {
		l := lock(o)
		if all[l] == nil {
			order = append(order, l)
		}
		all[l] = append(all[l], o)
	}
	var parts [][]porcupine.Operation
	for _, l := range order {
		parts = append(parts, all[l])
	}
	return parts
}

// lockHistory makes holds into operations. A hold begins between the request and
// when it was first seen to be valid, and ends after it was last seen so. What a
// process that died did not report has ended at any time after that.
func lockHistory(holds []*hold) []porcupine.Operation {
	var all []porcupine.Operation
	for i, h := range holds {
		op := lockOp{h.lock, h.who, h.token, true}
		enter, leave := h.from, h.to
		if h.from == 0 {
			enter, leave = h.end, h.ask
		}
		all = append(all, porcupine.Operation{ClientId: i, Input: op, Call: h.ask, Return: enter})
		op.enter = false
		all = append(all, porcupine.Operation{ClientId: i, Input: op, Call: leave, Return: h.end})
	}
	return all
}

// judgeLocks judges all holds.
func judgeLocks(holds []*hold) error {
	switch result := porcupine.CheckOperationsTimeout(lockModel, lockHistory(holds), patience); result {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("%d holds were not judged within %v", len(holds), patience)
	}
	if err := clash(holds); err != nil {
		return err
	}
	return fmt.Errorf("%d holds are not those of a lock", len(holds))
}

// clash finds two holds that cannot both be, for people to read.
func clash(holds []*hold) error {
	byToken := map[string]*hold{}
	sorted := slices.Clone(holds)
	slices.SortStableFunc(sorted, func(a, b *hold) int { return cmp.Compare(a.from, b.from) })
	latest := map[string]*hold{}
	for _, h := range sorted {
		key := fmt.Sprint(h.lock, " ", h.token)
		if o := byToken[key]; o != nil {
			return fmt.Errorf("one token for two entries:\n%v\n%v", o, h)
		}
		byToken[key] = h
		if h.from == 0 {
			continue
		}
		o := latest[h.lock]
		switch {
		case o == nil:
		case h.from < o.to:
			return fmt.Errorf("two are inside at a time:\n%v\n%v", o, h)
		case h.token.Less(o.token):
			return fmt.Errorf("a token is not higher than the one before:\n%v\n%v", o, h)
		}
		if o == nil || h.to > o.to {
			latest[h.lock] = h
		}
	}
	return nil
}

// A cellOp is what a holder does to a fenced register.
type cellOp struct {
	lock  string
	who   string // the hold
	token member.Token
	write bool
	value int64
}

// A cellResult is what comes of it.
type cellResult struct {
	taken bool
	value int64 // that was read
}

// A cellState is a fenced register, and who has used it last.
type cellState struct {
	who   string
	high  member.Token
	value int64
}

// cellModel is a register that refuses lower tokens (G1), and of which a token has
// one bearer.
var cellModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		return byLock(history, func(o porcupine.Operation) string { return o.Input.(cellOp).lock })
	},
	Init: func() any { return cellState{} },
	Step: func(state, input, output any) (bool, any) {
		s, op, result := state.(cellState), input.(cellOp), output.(cellResult)
		switch {
		case op.token.Less(s.high):
			return !result.taken, s
		case !result.taken || op.token == s.high && op.who != s.who:
			return false, s
		case op.write:
			return true, cellState{op.who, op.token, op.value}
		}
		return result.value == s.value, cellState{op.who, op.token, s.value}
	},
}

// judgeCells judges all that was done to fenced registers: what came of it is that
// of registers, and no increment was lost.
func judgeCells(history []porcupine.Operation) error {
	switch result := porcupine.CheckOperationsTimeout(cellModel, history, patience); result {
	case porcupine.Unknown:
		return fmt.Errorf("%d operations were not judged within %v", len(history), patience)
	case porcupine.Illegal:
		return fmt.Errorf("%d operations are not those of a fenced register with one bearer for each token", len(history))
	}
	type sum struct{ writes, value int64 }
	sums := map[string]sum{}
	for _, o := range history {
		op, result := o.Input.(cellOp), o.Output.(cellResult)
		if op.write && result.taken {
			s := sums[op.lock]
			sums[op.lock] = sum{s.writes + 1, max(s.value, op.value)}
		}
	}
	for lock, s := range sums {
		if s.writes != s.value {
			return fmt.Errorf("the fenced register of %s was incremented %d times, and is %d", lock, s.writes, s.value)
		}
	}
	return nil
}

func token(epoch, count uint64) member.Token { return member.Token{Epoch: epoch, Count: count} }

// The judge of locks accepts what is promised, and finds what is planted.
func TestJudgeLocks(t *testing.T) {
	type holds = []*hold
	h := func(who string, count uint64, ask, from, to, end int64) *hold {
		return &hold{who: who, lock: "x", token: token(1, count), ask: ask, told: 1, from: from, to: to, end: end, lost: end == never}
	}
	for name, test := range map[string]struct {
		holds holds
		good  bool
	}{
		"one after the other":        {holds{h("a", 1, 0, 1, 5, 7), h("b", 2, 0, 8, 9, 10)}, true},
		"told late":                  {holds{h("a", 1, 0, 1, 5, 20), h("b", 2, 0, 8, 9, 10)}, true},
		"died":                       {holds{h("a", 1, 0, 1, 5, never), h("b", 2, 0, 8, 9, 10), h("c", 3, 0, 11, 12, never)}, true},
		"never seen to be valid":     {holds{h("a", 1, 0, 0, 0, 9), h("b", 2, 0, 5, 12, 13)}, true},
		"reported in another order":  {holds{h("b", 2, 0, 8, 9, 10), h("a", 1, 0, 1, 5, 7)}, true},
		"two at a time":              {holds{h("a", 1, 0, 1, 9, 10), h("b", 2, 0, 8, 12, 13)}, false},
		"two at a time, one died":    {holds{h("a", 1, 0, 1, 9, never), h("b", 2, 0, 8, 12, 13)}, false},
		"one within the other":       {holds{h("a", 1, 0, 1, 99, 100), h("b", 2, 0, 8, 9, 10), h("c", 3, 0, 110, 112, 113)}, false},
		"the same token":             {holds{h("a", 1, 0, 1, 5, 7), h("b", 1, 0, 8, 9, 10)}, false},
		"a lower token":              {holds{h("a", 2, 0, 1, 5, 7), h("b", 1, 0, 8, 9, 10)}, false},
		"a lower token of who died":  {holds{h("a", 2, 0, 1, 5, never), h("b", 1, 0, 8, 9, never)}, false},
		"a lower token, never valid": {holds{h("a", 2, 0, 1, 5, 7), h("b", 1, 8, 0, 0, 10)}, false},
	} {
		if err := judgeLocks(test.holds); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The judge of registers too.
func TestJudgeCells(t *testing.T) {
	op := func(who string, count uint64, write bool, value int64, taken bool, from, to int64) porcupine.Operation {
		return porcupine.Operation{Input: cellOp{"x", who, token(1, count), write, value}, Output: cellResult{taken, value}, Call: from, Return: to}
	}
	type history = []porcupine.Operation
	for name, test := range map[string]struct {
		history history
		good    bool
	}{
		"one holder":               {history{op("a", 1, false, 0, true, 1, 2), op("a", 1, true, 1, true, 3, 4)}, true},
		"an old one is refused":    {history{op("a", 1, false, 0, true, 1, 2), op("b", 2, false, 0, true, 3, 4), op("a", 1, true, 1, false, 5, 6)}, true},
		"an old one is taken":      {history{op("a", 1, false, 0, true, 1, 2), op("b", 2, false, 0, true, 3, 4), op("a", 1, true, 1, true, 5, 6)}, false},
		"a new one is refused":     {history{op("a", 1, false, 0, true, 1, 2), op("b", 2, false, 0, false, 3, 4)}, false},
		"two bearers of one token": {history{op("a", 1, false, 0, true, 1, 2), op("b", 1, false, 0, true, 3, 4)}, false},
		"an old value":             {history{op("a", 1, true, 1, true, 1, 2), op("b", 2, false, 0, true, 3, 4)}, false},
		"a lost update":            {history{op("a", 1, true, 1, true, 1, 2), op("b", 2, true, 1, true, 3, 4)}, false},
	} {
		if err := judgeCells(test.history); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
