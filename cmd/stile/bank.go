package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/bank"
	"github.com/stile-lock/stile/sim"
)

// maxMoney is the most that an account holds before, or gets at once.
const maxMoney = 1_000_000_000_000

// bankFlags is what 'stile bank' can be told.
type bankFlags struct {
	lock            string
	machines        int
	deposits        int
	amount, balance int
	seed            uint64
	crash           bank.Crash
	json            bool
	scene           Scene
}

// bankNew returns the command.
func bankNew() *cobra.Command {
	f := &bankFlags{machines: 2, deposits: 1, amount: 10_000, balance: 1_000, seed: 1}
	c := &cobra.Command{
		Use:   "bank [flags]",
		Short: "See money get lost without mutual exclusion, and kept with it",
		Long: `Cash machines deposit money on one account: each reads the balance over the
network, adds, and writes the sum back. If one reads between another's read and
write, a deposit is lost.

Without --lock it tells the story: the same customers without a lock, with
ricart-agrawala, and with every other sound algorithm. With --lock it plays the
scene once. The messages it counts are those of the lock.

With --crash a machine dies in its first deposit, when it has read and not yet
written, or when its WRITE is under way (2@write), so slowly that others have
gone on when it arrives (2@late), and then to an account that refuses what comes
out of turn (2@fenced). Without --lock that is told of a lock as it is, and of
the same lock with recovery.

'stile storm --bank' is a bank with live locks, under every fault there is.`,
		Example: `  stile bank
  stile bank --lock none --seed 3
  stile bank --crash 1
  stile bank --machines 3 --crash 3@late --lock ricart-agrawala+bully
  stile bank --lock maekawa --machines 4 --deposits 10 --json`,
		Args: Nothing,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(Text(&f.lock, "none or the name of an algorithm: 'stile algorithms' lists them", cobra.FixedCompletions(append([]string{bank.NoLock().Name}, Locks()...), cobra.ShellCompDirectiveNoFileComp)), "lock", "none, or the `ALGORITHM` by which the machines take turns")
	fs.Var(Count(&f.machines, 1, MaxNodes), "machines", "how many cash machines")
	fs.Var(Count(&f.deposits, 1, MaxEntries), "deposits", "how many deposits each of them makes")
	fs.Var(Count(&f.amount, 0, maxMoney), "amount", "how much a deposit is")
	fs.Var(Count(&f.balance, 0, maxMoney), "balance", "what is on the account before")
	fs.Var(Seed(&f.seed), "seed", "which of many runs")
	fs.Var(crashing(&f.crash), "crash", "`WHO` dies inside: a machine such as 2, or 2@write, 2@late or 2@fenced")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs; the lock is then none unless given")
	f.scene.Define(fs)
	return c
}

// config is the scene with this lock.
func (f *bankFlags) config(lock algorithm.Spec) bank.Config {
	return bank.Config{
		Lock: lock, Machines: f.machines, Deposits: f.deposits,
		Amount: int64(f.amount), Balance: int64(f.balance), Seed: f.seed,
		Crash: f.crash, Record: !f.json && bank.Fits(f.machines, f.deposits),
	}
}

// lockOf returns the algorithm of that name, which may be none.
func (f *bankFlags) lockOf(name string) (algorithm.Spec, error) {
	if name == "" || name == bank.NoLock().Name {
		return bank.NoLock(), nil
	}
	spec, err := Spec(name, algorithm.Options{})
	if err != nil {
		return spec, fmt.Errorf("--lock: %w", err)
	}
	return spec, spec.Accepts(f.machines)
}

func (f *bankFlags) run(cmd *cobra.Command) error {
	lock, err := f.lockOf(f.lock)
	if err != nil {
		return err
	}
	if n := f.machines * f.deposits; n > MaxEntries {
		return fmt.Errorf("%s in all: want at most %d, so give fewer --machines or --deposits", words.Plural(n, "deposit"), MaxEntries)
	}
	if f.crash.On && int(f.crash.Who) >= f.machines {
		return fmt.Errorf("--crash %d: there are machines 1 to %d; give more --machines", f.crash.Who+1, f.machines)
	}
	if f.crash.On && f.lock == "" && !f.json {
		lock, err = f.lockOf(hero)
		if err != nil {
			return err
		}
	}
	c := f.config(lock)
	c.Record = c.Record || f.scene.Asked()
	rec := NewRecorder(f.machines+1, lock)
	rec.Title, rec.Kinds = bankTitle(lock), slices.Concat(lock.Kinds, bank.Kinds())
	if f.crash.Fenced {
		rec.Kinds = append(rec.Kinds, bank.Refusal)
	}
	rec.Names = make([]string, f.machines+1)
	rec.Names[f.machines], rec.Beside = "account", "balance"
	files, err := rec.Files(&f.scene)
	if err != nil {
		return err
	}
	return tellRun(cmd.OutOrStdout(), f.json, files, func() (Report, error) {
		live := Begin(cmd)
		defer live.End()
		c.Watch = live.Watch("deposits")
		r, err := bank.Run(c)
		if err != nil {
			return Report{}, err
		}
		rec.Events = r.Events
		rec.Interrupted(bankFar(c, r))
		if f.lock != "" || f.json {
			return Report{JSON: r, Text: func(p *Page) { printScene(p, c, r) }, Stopped: bankFar(c, r), Wrong: bankBroken(r)}, nil
		}
		if f.crash.On {
			return f.obituary(c, r)
		}
		return f.story(c, r)
	})
}

// bankFar says how far a scene was when it was stopped, if it was.
func bankFar(c bank.Config, r *bank.Result) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Entries), words.Plural(c.Machines*c.Deposits, "deposit"))
}

// story plays the scene c without a lock, of which first came, with all sound
// algorithms, the hero first, until one of them is interrupted.
func (f *bankFlags) story(c bank.Config, first *bank.Result) (Report, error) {
	locks := catalog.Sound()
	all := len(locks)
	locks = slices.DeleteFunc(locks, func(s algorithm.Spec) bool { return s.Accepts(f.machines) != nil })
	fits := len(locks) == all
	slices.SortStableFunc(locks, func(x, y algorithm.Spec) int { return order(x) - order(y) })
	results, stopped := []*bank.Result{first}, bankFar(c, first)
	for i := 0; i < len(locks) && stopped == ""; i++ {
		with := f.config(locks[i])
		with.Watch = c.Watch
		r, err := bank.Run(with)
		if err != nil {
			return Report{}, err
		}
		if r.Stopped {
			stopped = fmt.Sprintf("%d of %s", len(results), words.Plural(1+len(locks), "scene"))
			break
		}
		results = append(results, r)
	}
	others := "OTHER SOUND ALGORITHMS"
	if fits && stopped == "" {
		others = "EVERY OTHER SOUND ALGORITHM"
	}
	return Report{Text: func(p *Page) { printStory(p, c, results, others) }, Stopped: stopped, Wrong: bankBroken(results...)}, nil
}

// obituary plays the scene c, of which first came, with recovery too.
func (f *bankFlags) obituary(c bank.Config, first *bank.Result) (Report, error) {
	lock, err := f.lockOf(hero + "+bully")
	if err != nil {
		return Report{}, err
	}
	with := f.config(lock)
	with.Watch = c.Watch
	second, err := bank.Run(with)
	if err != nil {
		return Report{}, err
	}
	return Report{Text: func(p *Page) { printDeath(p, c, first, second) }, Stopped: bankFar(c, second), Wrong: bankBroken(first, second)}, nil
}

// crashing is the flag that says who dies.
func crashing(to *bank.Crash) pflag.Value {
	return Value(to, "WHO", bank.ParseCrash, func(c bank.Crash) string {
		if !c.On {
			return ""
		}
		return c.String()
	})
}

// order puts the hero first.
func order(s algorithm.Spec) int {
	if s.Name == hero {
		return 0
	}
	return 1
}

// bankBroken is the error of scenes in which a lock failed. Without a lock there
// is nothing to fail.
func bankBroken(results ...*bank.Result) error {
	var all []sim.Violation
	for _, r := range results {
		if r.Lock != bank.NoLock().Name {
			all = append(all, r.Found...)
		}
	}
	return Violations(all)
}

// hero is the algorithm that the story shows in full.
const hero = "ricart-agrawala"

func bankTitle(lock algorithm.Spec) string {
	if lock.Name == bank.NoLock().Name {
		return "The bank without a lock"
	}
	return "The bank with " + lock.Title
}
