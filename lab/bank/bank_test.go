package bank_test

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/bank"
	scene "github.com/stile-lock/stile/lab/internal/bank"
)

func play(t *testing.T, lock algorithm.Spec, machines, deposits int, seed uint64) *bank.Scene {
	t.Helper()
	s, err := bank.Play(lock, machines, deposits, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLock(t *testing.T) {
	for seed := range uint64(20) {
		s := play(t, mutex.RicartAgrawala(), 3, 2, seed)
		if err := s.Err(); err != nil || s.Balance != 61_000 || s.Expected != 61_000 || s.Messages != 24 {
			t.Errorf("seed %d: %+v: %v", seed, s, err)
		}
	}
}

// Without a lock money is lost, or only luck saves it; either is an error.
func TestNoLock(t *testing.T) {
	lost, luck := 0, 0
	for seed := range uint64(40) {
		s := play(t, scene.NoLock(), 2, 1, seed)
		err := s.Err()
		switch {
		case s.Balance != s.Expected && (err == nil || !strings.Contains(err.Error(), "10,000 IS LOST; P") || !strings.Contains(err.Error(), "account")):
			t.Errorf("seed %d: %+v: %v", seed, s, err)
		case s.Balance != s.Expected:
			lost++
		case err != nil && strings.Contains(err.Error(), "only by luck"):
			luck++
		}
	}
	if lost == 0 {
		t.Error("nothing was ever lost")
	}
	t.Logf("lost %d, saved by luck %d", lost, luck)
}

// A shut is a lock that lets nobody in.
type shut struct{}

type nothing struct{ kind uint8 }

func (m *nothing) Fields(c *algorithm.Coder) { c.Kind(&m.kind, 0) }

func (*shut) Fields(*algorithm.Coder)                                 {}
func (*shut) Request(*algorithm.Out[nothing])                         {}
func (*shut) Release(*algorithm.Out[nothing])                         {}
func (*shut) Receive(algorithm.ID, *nothing, *algorithm.Out[nothing]) {}

// That nobody is let in is told from losing money.
func TestShut(t *testing.T) {
	s := play(t, algorithm.Spec{
		Name: "shut", Kinds: []string{"NOTHING"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine { return algorithm.New(self, v, &shut{}) }),
	}, 3, 2, 1)
	err := s.Err()
	if s.Missing != 6 || s.Balance != bank.Before || err == nil || !strings.Contains(err.Error(), "6 deposits never made") || strings.Contains(err.Error(), "LOST") {
		t.Errorf("%+v: %v", s, err)
	}
}

func TestNobody(t *testing.T) {
	if _, err := bank.Play(mutex.RicartAgrawala(), 0, 1, 1); err == nil {
		t.Error("no machines, and no error")
	}
}
