package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/world/bank"
)

// bankTold runs the command, and returns what it prints in one line.
func bankTold(t *testing.T, args string) string {
	t.Helper()
	c := newBank()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs(strings.Fields(args))
	c.SilenceUsage, c.SilenceErrors = true, true
	_ = c.Execute() // a lock that fails is an error, and told all the same
	return strings.Join(strings.Fields(out.String()), " ")
}

// What is said follows from the run, whatever was asked for.
func TestWhatIsSaidIsTrue(t *testing.T) {
	locks := []string{"none", "maekawa-naive", "bakery-naive", "central-deny", "raymond"}
	for _, lock := range locks {
		for _, machines := range []int{1, 2, 4} {
			for _, deposits := range []int{1, 6} {
				for _, amount := range []int64{0, 10} {
					for seed := range uint64(4) {
						f := &bankFlags{machines: machines, deposits: deposits, amount: int(amount), balance: 7, seed: seed}
						spec, err := f.lockOf(lock)
						if err != nil {
							t.Fatal(err)
						}
						r, err := bank.Run(f.config(spec))
						if err != nil {
							t.Fatal(err)
						}
						args := fmt.Sprintf("--lock %s --machines %d --deposits %d --amount %d --balance 7 --seed %d", lock, machines, deposits, amount, seed)
						verify(t, args, bankTold(t, args), r, machines*deposits)
					}
				}
			}
		}
	}
}

// verify compares what a scene says with what came of it.
func verify(t *testing.T, args, text string, r *bank.Result, all int) {
	t.Helper()
	for says, so := range map[string]bool{
		fmt.Sprintf("The balance is %d", r.Balance): true,
		"nothing is lost":                 r.Lost == 0,
		fmt.Sprintf("%d IS LOST", r.Lost): r.Lost > 0,
		"IS LOST":                         r.Lost > 0,
		"had written":                     len(r.Overwritten) > 0,
		"more case":                       len(r.Overwritten) > 1,
		"were never made":                 r.Entries < all,
		fmt.Sprintf("%d of %d deposits were never", all-r.Entries, all): r.Entries < all && all > 1,
		"so far": false,
	} {
		if strings.Contains(text, says) != so {
			t.Errorf("bank %s: that it says %q should be %t, of %+v: %s", args, says, so, *r, text)
		}
	}
}

// The story says why nothing was lost without a lock: luck is only one reason.
func TestLuck(t *testing.T) {
	const lucky, alone, nothing = "luck", "takes two machines", "Deposits of 0"
	for _, test := range []struct{ args, want string }{
		{"--machines 1", alone},
		{"--machines 1 --amount 0", alone},
		{"--machines 1 --deposits 9", alone},
		{"--amount 0", nothing},
		{"--amount 0 --machines 3 --deposits 3", nothing},
		{"--seed 2", lucky},
		{"", ""},
		{"--machines 9", ""},
	} {
		text := bankTold(t, test.args)
		for _, reason := range []string{lucky, alone, nothing} {
			if strings.Contains(text, reason) != (reason == test.want) {
				t.Errorf("bank %s: want the reason %q: %s", test.args, test.want, text)
			}
		}
		if strings.Contains(text, "it: each reads") == strings.Contains(test.args, "--machines 1") {
			t.Errorf("bank %s: who reads? %s", test.args, text)
		}
	}
}

// The story is told of every sound algorithm, and only then says so.
func TestEveryOther(t *testing.T) {
	text := bankTold(t, "")
	for _, s := range catalog.Sound() {
		if !strings.Contains(text, s.Name) {
			t.Errorf("there is no %s in the story", s.Name)
		}
	}
	if !strings.Contains(text, "EVERY OTHER SOUND") {
		t.Error("all are told, but it does not say so")
	}
}
