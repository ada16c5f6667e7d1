package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stile-lock/stile"
)

// held is a grant with this token.
type held struct {
	name  string
	count uint64
}

func (h held) Name() string       { return h.name }
func (h held) Token() stile.Token { return stile.Token{Epoch: 1, Count: h.count} }
func (h held) Err() error         { return nil }

// Two holders read before either writes. Without a fence the second write loses the first
// one, and the ledger shows it; with a fence the older holder is refused.
func TestLostUpdate(t *testing.T) {
	ctx := t.Context()
	first, second := transfer{ID: 1, From: 1, To: 2, Amount: 5}, transfer{ID: 2, From: 2, To: 1, Amount: 7}
	grants := func(count uint64) []grant { return []grant{held{account(1), count}, held{account(2), count}} }
	for _, fence := range []bool{false, true} {
		s, err := openStore(place{File: filepath.Join(t.TempDir(), "bank.db")}, fence)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if err := s.found(ctx, 2); err != nil {
			t.Fatal(err)
		}
		_, _, err = s.read(ctx, first, grants(1))
		_, _, err2 := s.read(ctx, second, grants(2))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		err = s.write(ctx, first, grants(1), opening-5, opening+5)
		if errors.Is(err, stile.ErrStale) != fence || !fence && err != nil {
			t.Errorf("fence %v: the older holder: %v", fence, err)
		}
		if err := s.write(ctx, second, grants(2), opening-7, opening+7); err != nil {
			t.Errorf("fence %v: the newer holder: %v", fence, err)
		}
		if err := s.write(ctx, second, grants(2), 0, 0); !errors.Is(err, errMade) {
			t.Errorf("fence %v: the same transfer again: %v", fence, err)
		}
		l, err := s.audit(ctx)
		if err != nil || (l.wrong == 0) != fence || l.expected != 2*opening {
			t.Errorf("fence %v: %+v, %v", fence, l, err)
		}
	}
}
