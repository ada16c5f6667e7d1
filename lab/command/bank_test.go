package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/lab/internal/bank"
)

// bankOutput returns the output of the command, with blanks squeezed.
func bankOutput(args string) string {
	text, _ := execute(newBank(), strings.Fields(args)...) // a lock that fails is an error, too
	return strings.Join(strings.Fields(text), " ")
}

// The printed text matches the result of the run, for all flags.
func TestBankTextMatchesResult(t *testing.T) {
	t.Parallel()
	locks := []string{"none", "maekawa-naive", "bakery-naive", "central-deny", "raymond"}
	for _, lock := range locks {
		for _, machines := range []int{1, 3} {
			for _, deposits := range []int{1, 6} {
				for _, amount := range []int64{0, 10} {
					for seed := range uint64(2) {
						f := &bankFlags{machines: machines, deposits: deposits, amount: int(amount), balance: 7, seed: seed}
						spec, err := lockOrNone(lock, machines)
						if err != nil {
							t.Fatal(err)
						}
						r, err := bank.Run(f.config(spec))
						if err != nil {
							t.Fatal(err)
						}
						args := fmt.Sprintf("--lock %s --machines %d --deposits %d --amount %d --balance 7 --seed %d", lock, machines, deposits, amount, seed)
						verify(t, args, bankOutput(args), r, machines*deposits)
					}
				}
			}
		}
	}
}

// verify compares the text of a run with its result.
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

// The text says why nothing was lost without a lock: luck is only one reason.
func TestLuck(t *testing.T) {
	t.Parallel()
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
		text := bankOutput(test.args)
		for _, reason := range []string{lucky, alone, nothing} {
			if strings.Contains(text, reason) != (reason == test.want) {
				t.Errorf("bank %s: want the reason %q: %s", test.args, test.want, text)
			}
		}
		if strings.Contains(text, ": each machine reads") == strings.Contains(test.args, "--machines 1") {
			t.Errorf("bank %s: who reads? %s", test.args, text)
		}
	}
}

// The text lists every sound algorithm, and then says so.
func TestEveryOther(t *testing.T) {
	t.Parallel()
	text := bankOutput("")
	for _, s := range catalog.Sound() {
		if !strings.Contains(text, s.Name) {
			t.Errorf("there is no %s in the story", s.Name)
		}
	}
	if !strings.Contains(text, "EVERY OTHER SOUND") {
		t.Error("all are told, but it does not say so")
	}
}
