package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	output          traceOutput
}

// newBank returns the command.
func newBank() *cobra.Command {
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
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(textFlag(&f.lock, "none or the name of an algorithm: 'stile algorithms' lists them", cobra.FixedCompletions(append([]string{bank.NoLock().Name}, lockNames()...), cobra.ShellCompDirectiveNoFileComp)), "lock", "none, or the `ALGORITHM` by which the machines take turns")
	fs.Var(countFlag(&f.machines, 1, maxNodes), "machines", "how many cash machines")
	fs.Var(countFlag(&f.deposits, 1, maxEntries), "deposits", "how many deposits each of them makes")
	fs.Var(countFlag(&f.amount, 0, maxMoney), "amount", "how much a deposit is")
	fs.Var(countFlag(&f.balance, 0, maxMoney), "balance", "what is on the account before")
	fs.Var(seedFlag(&f.seed), "seed", "which of many runs")
	fs.Var(crashFlag(&f.crash), "crash", "`WHO` dies inside: a machine such as 2, or 2@write, 2@late or 2@fenced")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs; the lock is then none unless given")
	f.output.define(fs)
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
	spec, err := findAlgorithm(name, algorithm.Options{})
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
	if n := f.machines * f.deposits; n > maxEntries {
		return fmt.Errorf("%s in all: want at most %d, so give fewer --machines or --deposits", words.Plural(n, "deposit"), maxEntries)
	}
	if f.crash.On && int(f.crash.Who) >= f.machines {
		return fmt.Errorf("--crash %d: there are machines 1 to %d; give more --machines", f.crash.Who+1, f.machines)
	}
	if f.crash.On && f.lock == "" && !f.json {
		lock, err = f.lockOf(shownAlgorithm)
		if err != nil {
			return err
		}
	}
	c := f.config(lock)
	c.Record = c.Record || f.output.requested()
	rec := newRecorder(f.machines+1, lock)
	rec.Title, rec.Kinds = bankTitle(lock), slices.Concat(lock.Kinds, bank.Kinds())
	if f.crash.Fenced {
		rec.Kinds = append(rec.Kinds, bank.Refusal)
	}
	rec.Names = make([]string, f.machines+1)
	rec.Names[f.machines], rec.Beside = "account", "balance"
	files, err := rec.files(&f.output)
	if err != nil {
		return err
	}
	return runAndReport(cmd.OutOrStdout(), f.json, files, func() (outcome, error) {
		live := startProgress(cmd)
		defer live.end()
		c.Watch = live.watch("deposits")
		r, err := bank.Run(c)
		if err != nil {
			return outcome{}, err
		}
		rec.Events = r.Events
		rec.interrupted(bankProgress(c, r))
		if f.lock != "" || f.json {
			return outcome{json: r, text: func(p *printer) { printBankRun(p, c, r) }, stopped: bankProgress(c, r), wrong: bankFindings(r)}, nil
		}
		if f.crash.On {
			return f.crashStory(c, r)
		}
		return f.story(c, r)
	})
}

// bankProgress says how far a scene was when it was stopped, if it was.
func bankProgress(c bank.Config, r *bank.Result) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Entries), words.Plural(c.Machines*c.Deposits, "deposit"))
}

// story plays the scene c without a lock, of which first came, with all sound
// algorithms, the hero first, until one of them is interrupted.
func (f *bankFlags) story(c bank.Config, first *bank.Result) (outcome, error) {
	locks := catalog.Sound()
	all := len(locks)
	locks = slices.DeleteFunc(locks, func(s algorithm.Spec) bool { return s.Accepts(f.machines) != nil })
	fits := len(locks) == all
	slices.SortStableFunc(locks, func(x, y algorithm.Spec) int { return shownFirst(x) - shownFirst(y) })
	results, stopped := []*bank.Result{first}, bankProgress(c, first)
	for i := 0; i < len(locks) && stopped == ""; i++ {
		with := f.config(locks[i])
		with.Watch = c.Watch
		r, err := bank.Run(with)
		if err != nil {
			return outcome{}, err
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
	return outcome{text: func(p *printer) { printStory(p, c, results, others) }, stopped: stopped, wrong: bankFindings(results...)}, nil
}

// crashStory plays the scene c, of which first came, with recovery too.
func (f *bankFlags) crashStory(c bank.Config, first *bank.Result) (outcome, error) {
	lock, err := f.lockOf(shownAlgorithm + "+bully")
	if err != nil {
		return outcome{}, err
	}
	with := f.config(lock)
	with.Watch = c.Watch
	second, err := bank.Run(with)
	if err != nil {
		return outcome{}, err
	}
	return outcome{text: func(p *printer) { printCrash(p, c, first, second) }, stopped: bankProgress(c, second), wrong: bankFindings(first, second)}, nil
}

// crashFlag is the flag that says who dies.
func crashFlag(to *bank.Crash) pflag.Value {
	return newFlag(to, "WHO", bank.ParseCrash, func(c bank.Crash) string {
		if !c.On {
			return ""
		}
		return c.String()
	})
}

// shownFirst puts the hero first.
func shownFirst(s algorithm.Spec) int {
	if s.Name == shownAlgorithm {
		return 0
	}
	return 1
}

// bankFindings is the error of scenes in which a lock failed. Without a lock there
// is nothing to fail.
func bankFindings(results ...*bank.Result) error {
	var all []sim.Violation
	for _, r := range results {
		if r.Lock != bank.NoLock().Name {
			all = append(all, r.Found...)
		}
	}
	return violationFindings(all)
}

// shownAlgorithm is the algorithm that the story shows in full.
const shownAlgorithm = "ricart-agrawala"

func bankTitle(lock algorithm.Spec) string {
	if lock.Name == bank.NoLock().Name {
		return "The bank without a lock"
	}
	return "The bank with " + lock.Title
}

// How many rows of a diagram fit on the screen.
const (
	storyRows = 14
	bankRows  = 60
	crashRows = 30
)

// printStory tells what happens without a lock and with each. The first
// result is the one without, the second the one to be shown in full.
func printStory(p *printer, c bank.Config, results []*bank.Result, others string) {
	who := "each"
	if c.Machines == 1 {
		who = "it"
	}
	first := results[0]
	p.text(0, fmt.Sprintf("An account holds %s. %s on it: %s reads the balance over the network, adds, and writes the sum back. In the end it must hold %s.",
		words.Grouped(c.Balance), depositors(c), who, words.Grouped(first.Expected)))
	p.gap()
	p.line("%-50s┊ idle  ┃ waiting  █ inside", "WITHOUT A LOCK")
	printDiagram(p, c, first, storyRows, "--svg FILE draws it")
	printEnd(p, c, first)
	if text := luckText(c, first); text != "" {
		p.text(0, text)
	}
	if len(results) < 2 {
		return
	}
	p.gap()
	p.line("THE SAME CUSTOMERS, WITH %s", results[1].Lock)
	printDiagram(p, c, results[1], storyRows, fmt.Sprintf("--lock %s --svg FILE draws it", results[1].Lock))
	printEnd(p, c, results[1])
	if len(results) < 3 {
		return
	}
	p.gap()
	p.line("AND WITH %s (balance, messages of the lock)", others)
	printOthers(p, results[2:])
}

// luckText says why nothing was lost without a lock.
func luckText(c bank.Config, r *bank.Result) string {
	switch {
	case r.Lost > 0 || r.Stopped:
		return ""
	case c.Machines == 1:
		return "There is nobody else to be in the way: it takes two machines to lose money."
	case c.Amount == 0:
		return "Deposits of 0 cannot be lost: give an --amount."
	}
	return "Each read after the one before had written: luck. Another --seed may lose money."
}

// printCrash tells what comes of a death, without recovery and with it.
func printCrash(p *printer, c bank.Config, without, with *bank.Result) {
	p.text(0, fmt.Sprintf("An account holds %s. %s on it, and %v dies inside.", words.Grouped(c.Balance), depositors(c), c.Crash.Who))
	for _, r := range []*bank.Result{without, with} {
		p.gap()
		p.line("WITH %s", r.Lock)
		printDiagram(p, c, r, crashRows, fmt.Sprintf("--lock %s --svg FILE draws it", r.Lock))
		printEnd(p, c, r)
	}
}

// printOthers lists scenes in two columns, or in one if they are wide.
func printOthers(p *printer, results []*bank.Result) {
	var cells []string
	room := 0
	for _, r := range results {
		cell := fmt.Sprintf("%-22s%8s%6d", truncate(r.Lock, 22), words.Grouped(r.Balance), r.Messages)
		if r.Lost != 0 {
			cell += " LOST"
		}
		cells = append(cells, cell)
		room = max(room, utf8.RuneCountInString(cell))
	}
	columns := 2
	if 2*(room+2)+1 > screenWidth {
		columns = 1
	}
	rows := (len(cells) + columns - 1) / columns
	for i := range rows {
		line := cells[i]
		if i+rows < len(cells) {
			line = fmt.Sprintf("%-40s%s", line, cells[i+rows])
		}
		p.line("  %s", line)
	}
}

// printBankRun shows one scene.
func printBankRun(p *printer, c bank.Config, r *bank.Result) {
	p.line("%s: %s on the account, seed %d.", bankTitle(c.Lock), words.Grouped(c.Balance), c.Seed)
	p.line("%s.", depositors(c))
	p.gap()
	printDiagram(p, c, r, bankRows, "--svg FILE draws it")
	p.gap()
	printEnd(p, c, r)
	p.line("%s, %s of the lock", words.Plural(r.Entries, "deposit"), words.Plural(r.Messages, "message"))
}

func depositors(c bank.Config) string {
	each := ""
	if c.Deposits > 1 {
		each = fmt.Sprintf(" %s times", words.Grouped(c.Deposits))
	}
	if c.Machines == 1 {
		return fmt.Sprintf("1 cash machine deposits %s%s", words.Grouped(c.Amount), each)
	}
	return fmt.Sprintf("%s deposit %s each%s", words.Plural(c.Machines, "cash machine"), words.Grouped(c.Amount), each)
}

// printDiagram draws a scene, or says how it can be drawn.
func printDiagram(p *printer, c bank.Config, r *bank.Result, rows int, draws string) {
	if !bank.Fits(c.Machines, c.Deposits) {
		p.line("(too much for a diagram as text: %s)", draws)
		return
	}
	for _, row := range r.Diagram(c.Balance, rows) {
		p.line("%s", row)
	}
}

// printEnd says how it ended, and why.
func printEnd(p *printer, c bank.Config, r *bank.Result) {
	end := "The balance is " + words.Grouped(r.Balance)
	if r.Stopped {
		end += " so far"
	}
	why := overwrittenText(r)
	switch {
	case r.Lost > 0:
		end += fmt.Sprintf(". %s IS LOST%s.", words.Grouped(r.Lost), why)
	case why != "":
		end += fmt.Sprintf(": nothing is lost, since a deposit is 0%s.", strings.Replace(why, ":", ", but", 1))
	default:
		end += ": nothing is lost."
	}
	all := c.Machines * c.Deposits
	switch {
	case c.Crash.On && !r.Stopped:
		end = crashText(c, r) + " " + end
	case r.Entries < all && !r.Stopped:
		end += fmt.Sprintf(" But %s of %s were never made: whoever asks is not let in any more.", words.Grouped(all-r.Entries), words.Plural(all, "deposit"))
	}
	p.text(0, end)
}

// crashText says how a machine died, and what that means to the others.
func crashText(c bank.Config, r *bank.Result) string {
	who := c.Crash.Who
	end := fmt.Sprintf("%v died when it had read and not yet written: that deposit was never made, and is known to nobody.", who)
	switch {
	case c.Crash.Fenced:
		end = fmt.Sprintf("%v died while its WRITE was under way, very slowly. The account had heard of a later turn by then, and refused it: that deposit was not made.", who)
		if r.Refused == 0 {
			end = fmt.Sprintf("%v died while its WRITE was under way, very slowly. Nobody had a later turn, so the account took it.", who)
		}
	case c.Crash.Moment == bank.Late:
		end = fmt.Sprintf("%v died while its WRITE was under way, so slowly that it came 40 message times later.", who)
		if r.Lost > 0 {
			end += fmt.Sprintf(" No lock can call it back; an account that looks at whose turn it is can refuse it: --crash %d@fenced.", who+1)
		}
	case c.Crash.Moment == bank.Write:
		end = fmt.Sprintf("%v died while its WRITE was under way; it arrived, so that deposit was made.", who)
	}
	switch n := len(r.Waiting); {
	case n == 0 && r.After > 0:
		end += " The others went on without it."
	case n == 0 && c.Machines > 1:
		end += " Nobody wanted in after it: let another machine die, or give another --seed, to see more."
	case n == 1:
		end += fmt.Sprintf(" P%d waits for ever for somebody who is dead.", r.Waiting[0])
	case n > 1:
		end += fmt.Sprintf(" %d wait for ever for somebody who is dead.", n)
	}
	return end
}

// overwrittenText says how deposits were overwritten, if some were.
func overwrittenText(r *bank.Result) string {
	if len(r.Overwritten) == 0 {
		return ""
	}
	o := r.Overwritten[0]
	why := fmt.Sprintf(": %v read before %v had written", o.By, o.Of)
	if more := len(r.Overwritten) - 1; more > 0 {
		why += fmt.Sprintf(", and %s like that", words.Plural(more, "more case"))
	}
	return why
}
