package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/bank"
	"github.com/stile-lock/stile/sim"
)

// bankFlags is what 'stile bank' can be told.
type bankFlags struct {
	lock            string
	machines        int
	deposits        int
	amount, balance int
	seed            uint64
	json            bool
	svg             string
}

func newBank(stdout io.Writer) *cobra.Command {
	f := &bankFlags{machines: 2, deposits: 1, amount: 10_000, balance: 1_000, seed: 1}
	c := &cobra.Command{
		Use:   "bank [flags]",
		Short: "See money get lost without mutual exclusion, and kept with it",
		Long: `Cash machines deposit money on one account: each reads the balance over the
network, adds, and writes the sum back. If one reads between another's read and
write, a deposit is lost.

Without --lock it tells the story: the same customers without a lock, with
ricart-agrawala, and with every other sound algorithm. With --lock it plays the
scene once. The messages it counts are those of the lock.`,
		Example: `  stile bank
  stile bank --lock none --seed 3
  stile bank --lock maekawa --machines 4 --deposits 10 --json`,
		Args: none,
		RunE: func(*cobra.Command, []string) error { return f.run(stdout) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.lock, "lock", "", "none, or the `ALGORITHM` by which the machines take turns")
	fs.Var(count{&f.machines, 1, maxNodes}, "machines", "how many cash machines")
	fs.Var(count{&f.deposits, 1, maxEntries}, "deposits", "how many deposits each of them makes")
	fs.Var(count{&f.amount, 0, maxMoney}, "amount", "how much a deposit is")
	fs.Var(count{&f.balance, 0, maxMoney}, "balance", "what is on the account before")
	fs.Var(seed{&f.seed}, "seed", "which of many runs")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs; the lock is then none unless given")
	fs.StringVar(&f.svg, "svg", "", "write a space-time diagram to this `FILE`")
	return c
}

// scene is the scene with this lock.
func (f *bankFlags) scene(lock core.Spec) bank.Config {
	return bank.Config{
		Lock: lock, Machines: f.machines, Deposits: f.deposits,
		Amount: int64(f.amount), Balance: int64(f.balance), Seed: f.seed,
		Record: !f.json && bank.Fits(f.machines, f.deposits),
	}
}

// lockOf returns the algorithm of that name, which may be none.
func (f *bankFlags) lockOf(name string) (core.Spec, error) {
	if name == "" || name == bank.NoLock().Name {
		return bank.NoLock(), nil
	}
	spec, err := catalog.Make(name, core.Options{})
	if err != nil {
		return spec, fmt.Errorf("--lock: %w", err)
	}
	return spec, spec.Accepts(f.machines)
}

func (f *bankFlags) run(stdout io.Writer) error {
	lock, err := f.lockOf(f.lock)
	if err != nil {
		return err
	}
	if n := f.machines * f.deposits; n > maxEntries {
		return fmt.Errorf("%s in all: want at most %d, so give fewer --machines or --deposits", plural(n, "deposit"), maxEntries)
	}
	story := f.lock == "" && !f.json
	c := f.scene(lock)
	c.Record = c.Record || f.svg != ""
	rec := newRecorder(f.machines+1, bankTitle(lock), lock.Name, slices.Concat(lock.Kinds, bank.Kinds()))
	rec.Names = make([]string, f.machines+1)
	rec.Names[f.machines] = "account"
	outputs, err := rec.outputs(f.svg, "")
	if err != nil {
		return err
	}
	r, err := bank.Run(c)
	if err != nil {
		return err
	}
	rec.Events = r.Events
	var others []*bank.Result
	if story {
		if others, err = f.others(); err != nil {
			return err
		}
	}
	if err := writeAll(outputs); err != nil {
		return err
	}
	switch {
	case f.json:
		err = writeJSON(stdout, r)
	case story:
		err = printStory(stdout, c, append([]*bank.Result{r}, others...))
	default:
		err = printScene(stdout, c, r)
	}
	if err != nil {
		return err
	}
	return broken(append(others, r))
}

// others plays the same scene with all sound algorithms, ricart-agrawala first.
func (f *bankFlags) others() ([]*bank.Result, error) {
	var all []*bank.Result
	for _, s := range catalog.Sound() {
		if s.Accepts(f.machines) != nil {
			continue
		}
		r, err := bank.Run(f.scene(s))
		if err != nil {
			return nil, err
		}
		if s.Name == hero {
			all = slices.Insert(all, 0, r)
		} else {
			all = append(all, r)
		}
	}
	return all, nil
}

// broken is the error of scenes in which a lock failed. Without a lock there
// is nothing to fail.
func broken(results []*bank.Result) error {
	var all []sim.Violation
	for _, r := range results {
		if r.Lock != bank.NoLock().Name {
			all = append(all, r.Found...)
		}
	}
	return violations(all)
}

// hero is the algorithm that the story shows in full.
const hero = "ricart-agrawala"

func bankTitle(lock core.Spec) string {
	if lock.Name == bank.NoLock().Name {
		return "The bank without a lock"
	}
	return "The bank with " + lock.Title
}
