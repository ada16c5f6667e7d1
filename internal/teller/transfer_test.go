package teller

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stile-lock/stile"
)

// A fake is a lock in a test, which can be lost.
type fake struct {
	name  string
	token stile.Token
	lost  bool
}

func (f *fake) Name() string       { return f.name }
func (f *fake) Token() stile.Token { return f.token }
func (f *fake) Err() error {
	if f.lost {
		return stile.ErrLost
	}
	return nil
}

// A granter grants every request at once, each time with higher tokens. A lock service
// does that when all earlier holders have lost their locks.
type granter struct{ last uint64 }

func (s *granter) lock(_ context.Context, t Transfer, n *Tally, f func(held []hold) error) error {
	n.Attempts++
	s.last++
	var held []hold
	for _, name := range t.accounts() {
		held = append(held, &fake{name: name, token: stile.Token{Epoch: 1, Count: s.last}})
	}
	return f(held)
}

// newStore returns a store in a file, with three accounts.
func newStore(t *testing.T, fence bool) *Store {
	t.Helper()
	s, err := OpenStore(Place{File: filepath.Join(t.TempDir(), "with ?#%41.db")}, fence)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Found(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	return s
}

// testTeller returns a teller that does not wait.
func testTeller(s accounts, l locking) *teller {
	return &teller{lock: l, store: s, think: func(context.Context) {}, pause: func(context.Context) {}}
}

// overtake makes a transfer, and another one at the same account while the first is between
// its read and its write.
func overtake(t *testing.T, s *Store, l locking) (first Tally, a Audit) {
	t.Helper()
	slow, fast := testTeller(s, l), testTeller(s, l)
	slow.pause = func(context.Context) {
		slow.pause = func(context.Context) {}
		if _, err := fast.transfer(t.Context(), Transfer{ID: 2, From: 2, To: 3, Amount: 7}); err != nil {
			t.Error(err)
		}
	}
	first, err := slow.transfer(t.Context(), Transfer{ID: 1, From: 1, To: 2, Amount: 5})
	if err != nil {
		t.Error(err)
	}
	if a, err = s.Audit(t.Context()); err != nil || a.Made != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	return first, a
}

// An update is lost without a lock, and also under a lock whose holder is overtaken. The
// fence refuses the late write, and the transfer is made again.
func TestOvertaken(t *testing.T) {
	if n, a := overtake(t, newStore(t, false), unlocked); a.Exact() || a.Found-a.Expected != 7 || n != (Tally{Attempts: 1}) {
		t.Errorf("without a lock: %+v, %+v", n, a)
	}
	if n, a := overtake(t, newStore(t, false), (&granter{}).lock); a.Exact() || n != (Tally{Attempts: 1}) {
		t.Errorf("without the fence: %+v, %+v", n, a)
	}
	if n, a := overtake(t, newStore(t, true), (&granter{}).lock); !a.Exact() || n != (Tally{Attempts: 2, Retried: 1, Refused: 1}) {
		t.Errorf("with the fence: %+v, %+v", n, a)
	}
}

// A late write is refused as soon as the next holder has read, although that has not written
// yet. Otherwise the next holder would overwrite it.
func TestReadIsFenced(t *testing.T) {
	s, ctx := newStore(t, true), t.Context()
	grants := func(count uint64) []Grant {
		token := stile.Token{Epoch: 1, Count: count}
		return []Grant{{accountName(1), token}, {accountName(2), token}}
	}
	older, newer := Transfer{ID: 1, From: 1, To: 2, Amount: 5}, Transfer{ID: 2, From: 2, To: 1, Amount: 7}
	if _, _, err := s.Read(ctx, older, grants(1)); err != nil {
		t.Fatal(err)
	}
	from, to, err := s.Read(ctx, newer, grants(2))
	if err != nil || from != Opening || to != Opening {
		t.Fatal(from, to, err)
	}
	if err := s.Write(ctx, older, grants(1), Opening-5, Opening+5); !errors.Is(err, stile.ErrStale) {
		t.Errorf("the late write: %v", err)
	}
	if _, _, err := s.Read(ctx, older, grants(1)); !errors.Is(err, stile.ErrStale) {
		t.Errorf("a late read: %v", err)
	}
	if err := s.Write(ctx, newer, grants(2), from-7, to+7); err != nil {
		t.Error(err)
	}
	if a, err := s.Audit(ctx); err != nil || !a.Exact() || a.Made != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// A write is made as a whole, or not at all, and once.
func TestWriteIsAtomic(t *testing.T) {
	s, ctx := newStore(t, true), t.Context()
	x := Transfer{ID: 1, From: 2, To: 1, Amount: 5}
	low, high := stile.Token{Epoch: 1, Count: 1}, stile.Token{Epoch: 2, Count: 1}
	if _, _, err := s.Read(ctx, x, []Grant{{accountName(2), high}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(ctx, x, []Grant{{accountName(2), low}, {accountName(1), high}}, 0, 0); !errors.Is(err, stile.ErrStale) {
		t.Errorf("one token is stale: %v", err)
	}
	grants := []Grant{{accountName(2), high}, {accountName(1), low}} // which a refused write has not raised
	if err := s.Write(ctx, x, grants, Opening-5, Opening+5); err != nil {
		t.Error(err)
	}
	if err := s.Write(ctx, x, grants, 0, 0); !errors.Is(err, ErrMade) {
		t.Errorf("the same transfer again: %v", err)
	}
	if a, err := s.Audit(ctx); err != nil || !a.Exact() || a.Made != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// unanswered is a store whose answer to the first write is lost.
type unanswered struct {
	*Store
	said bool
}

var errUnanswered = errors.New("connection lost")

func (d *unanswered) Write(ctx context.Context, t Transfer, grants []Grant, from, to int64) error {
	err := d.Store.Write(ctx, t, grants, from, to)
	if !d.said {
		d.said, err = true, errUnanswered
	}
	return err
}

// A transfer whose answer was lost is not made twice.
func TestLostAnswer(t *testing.T) {
	s := newStore(t, true)
	n, err := testTeller(&unanswered{Store: s}, (&granter{}).lock).transfer(t.Context(), Transfer{ID: 1, From: 1, To: 2, Amount: 5})
	if err != nil || n.Attempts != 2 {
		t.Errorf("%+v, %v", n, err)
	}
	if a, err := s.Audit(t.Context()); err != nil || !a.Exact() || a.Made != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// A worker that knows that its lock is lost does not write.
func TestKnownLoss(t *testing.T) {
	s, grants := newStore(t, false), &granter{}
	var all []*fake
	w := testTeller(s, func(ctx context.Context, x Transfer, n *Tally, f func(held []hold) error) error {
		return grants.lock(ctx, x, n, func(held []hold) error {
			for _, l := range held {
				all = append(all, l.(*fake))
			}
			return f(held)
		})
	})
	w.think = func(context.Context) { all[1].lost = len(all) == 2 } // in the first attempt
	w.pause = func(context.Context) {
		if len(all) == 2 {
			t.Error("a write under a lock that is lost")
		}
	}
	if n, err := w.transfer(t.Context(), Transfer{ID: 1, From: 1, To: 2, Amount: 5}); err != nil || n != (Tally{Attempts: 2, Retried: 1, Lost: 1}) {
		t.Errorf("%+v, %v", n, err)
	}
}

// The end of the context ends a transfer that fails.
func TestTransferEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	w := testTeller(newStore(t, true), func(context.Context, Transfer, *Tally, func(held []hold) error) error {
		cancel(over)
		return errors.New("no node")
	})
	if _, err := w.transfer(ctx, Transfer{ID: 1, From: 1, To: 2}); !errors.Is(err, over) {
		t.Error(err)
	}
}

// Both ways to lock hold both accounts, with tokens that the fence accepts, on a real node.
func TestLockings(t *testing.T) {
	n, err := stile.Open(t.Context(), stile.Config{Name: "a", Algorithm: "naimi-trehel," + accountPrefix + "=kept:wound-wait"})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ordinary, err := stile.Open(t.Context(), stile.Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer ordinary.Close()
	for name, l := range map[string]locking{"together": together(ordinary), "transacted": transacted(n, false), "sorted": transacted(n, true)} {
		s := newStore(t, true)
		w := testTeller(s, l)
		for id := range 3 {
			tally, err := w.transfer(t.Context(), Transfer{ID: id + 1, From: 3, To: 1, Amount: 5})
			if err != nil || tally != (Tally{Attempts: 1}) {
				t.Errorf("%s: %+v, %v", name, tally, err)
			}
		}
		var fences int
		if err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM stile_fence").Scan(&fences); err != nil || fences != 2 {
			t.Errorf("%s: the fence has %d locks, %v", name, fences, err)
		}
		if a, err := s.Audit(t.Context()); err != nil || !a.Exact() || a.Made != 3 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}
