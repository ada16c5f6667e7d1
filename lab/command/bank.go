package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/bank"
	"github.com/stile-lock/stile/lab/sim"
)

// maxMoney is the maximum of the initial balance and of a deposit.
const maxMoney = 1_000_000_000_000

// bankFlags holds the flags of 'stile-lab bank'.
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

func newBank() *cobra.Command {
	f := &bankFlags{machines: 2, deposits: 1, amount: 10_000, balance: 1_000, seed: 1}
	c := &cobra.Command{
		Use:   "bank [flags]",
		Short: "Show how money is lost without mutual exclusion",
		Long: `Cash machines deposit money into one account: each reads the balance over the
network, adds to it, and writes the sum back. If one reads between another's
read and write, a deposit is lost.

Without --lock the same deposits are made without a lock, with ricart-agrawala,
and with every other sound algorithm. With --lock they are made once. Only the
messages of the lock are counted.

With --crash a machine crashes in its first deposit: between its read and its
write (2), or while its WRITE is in flight (2@write). With 2@late the WRITE is
so slow that other machines have continued when it arrives; with 2@fenced the
account then refuses it. Without --lock this is shown with a plain lock, and
with the same lock and recovery.

'stile-lab storm --bank' runs a bank with live locks under every simulated fault.`,
		Example: `  stile-lab bank
  stile-lab bank --lock none --seed 3
  stile-lab bank --crash 1
  stile-lab bank --machines 3 --crash 3@late --lock ricart-agrawala+bully
  stile-lab bank --lock maekawa --machines 4 --deposits 10 --json`,
		Args: terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	lockOrNoneFlag(fs, &f.lock)
	fs.Var(terminal.CountFlag(&f.machines, 1, maxNodes), "machines", "number of cash machines")
	fs.Var(terminal.CountFlag(&f.deposits, 1, maxEntries), "deposits", "number of deposits by each machine")
	fs.Var(terminal.CountFlag(&f.amount, 0, maxMoney), "amount", "amount of a deposit")
	fs.Var(terminal.CountFlag(&f.balance, 0, maxMoney), "balance", "initial balance")
	fs.Var(seedFlag(&f.seed), "seed", "seed of the run")
	fs.Var(crashFlag(&f.crash), "crash", "machine that crashes in the critical section: `WHO` is 2, 2@write, 2@late or 2@fenced")
	fs.BoolVar(&f.json, "json", false, "JSON output, for programs; --lock is then none by default")
	f.output.define(fs)
	return c
}

// config returns the run with this lock.
func (f *bankFlags) config(lock algorithm.Spec) bank.Config {
	return bank.Config{
		Lock: lock, Machines: f.machines, Deposits: f.deposits,
		Amount: int64(f.amount), Balance: int64(f.balance), Seed: f.seed,
		Crash: f.crash, Record: !f.json && bank.Fits(f.machines, f.deposits),
	}
}

// lockOrNoneFlag defines --lock, for commands that can also run without a lock.
func lockOrNoneFlag(fs *pflag.FlagSet, to *string) {
	names := append([]string{bank.NoLock().Name}, lockNames()...)
	fs.Var(terminal.TextFlag(to, "none or the name of an algorithm: 'stile-lab algorithms' lists them", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)),
		"lock", "`ALGORITHM` that provides mutual exclusion, or none (default none, then all)")
}

// lockOrNone returns the algorithm with this name for a number of processes. The name
// may be none, or empty.
func lockOrNone(name string, processes int) (algorithm.Spec, error) {
	if name == "" || name == bank.NoLock().Name {
		return bank.NoLock(), nil
	}
	spec, err := findAlgorithm(name, algorithm.Options{})
	if err != nil {
		return spec, fmt.Errorf("--lock: %w", err)
	}
	return spec, spec.Accepts(processes)
}

func (f *bankFlags) run(cmd *cobra.Command) error {
	lock, err := lockOrNone(f.lock, f.machines)
	if err != nil {
		return err
	}
	if n := f.machines * f.deposits; n > maxEntries {
		return fmt.Errorf("%s in total, at most %d are allowed: give fewer --machines or --deposits", words.Plural(n, "deposit"), maxEntries)
	}
	if f.crash.On && int(f.crash.Who) >= f.machines {
		return fmt.Errorf("--crash %d: machines are numbered 1 to %d: give more --machines", f.crash.Who+1, f.machines)
	}
	if f.crash.On && f.lock == "" && !f.json {
		lock, err = lockOrNone(shownAlgorithm, f.machines)
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
	return terminal.RunAndReport(cmd.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		prog := terminal.StartProgress(cmd)
		defer prog.End()
		c.Watch = watchRun(prog, "deposits")
		r, err := bank.Run(c)
		if err != nil {
			return terminal.Outcome{}, err
		}
		rec.Events = r.Events
		rec.interrupted(bankProgress(c, r))
		if f.lock != "" || f.json {
			return terminal.Outcome{JSON: r, Text: func(p *terminal.Printer) { printBankRun(p, c, r) }, Stopped: bankProgress(c, r), Wrong: bankFindings(r)}, nil
		}
		if f.crash.On {
			return f.crashStory(c, r)
		}
		return f.story(c, r)
	})
}

// bankProgress says how far a run was when it was interrupted, if it was.
func bankProgress(c bank.Config, r *bank.Result) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Entries), words.Plural(c.Machines*c.Deposits, "deposit"))
}

// story repeats the run c, whose result without a lock is first, with all sound
// algorithms, the shown one first, until one run is interrupted.
func (f *bankFlags) story(c bank.Config, first *bank.Result) (terminal.Outcome, error) {
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
			return terminal.Outcome{}, err
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
	return terminal.Outcome{Text: func(p *terminal.Printer) { printStory(p, c, results, others) }, Stopped: stopped, Wrong: bankFindings(results...)}, nil
}

// crashStory repeats the run c, whose result is first, with recovery.
func (f *bankFlags) crashStory(c bank.Config, first *bank.Result) (terminal.Outcome, error) {
	lock, err := lockOrNone(shownAlgorithm+"+bully", f.machines)
	if err != nil {
		return terminal.Outcome{}, err
	}
	with := f.config(lock)
	with.Watch = c.Watch
	second, err := bank.Run(with)
	if err != nil {
		return terminal.Outcome{}, err
	}
	return terminal.Outcome{Text: func(p *terminal.Printer) { printCrash(p, c, first, second) }, Stopped: bankProgress(c, second), Wrong: bankFindings(first, second)}, nil
}

// crashFlag takes the machine that crashes, and when.
func crashFlag(to *bank.Crash) pflag.Value {
	return terminal.NewFlag(to, "WHO", bank.ParseCrash, func(c bank.Crash) string {
		if !c.On {
			return ""
		}
		return c.String()
	})
}

// shownFirst sorts the shown algorithm first.
func shownFirst(s algorithm.Spec) int {
	if s.Name == shownAlgorithm {
		return 0
	}
	return 1
}

// bankFindings returns findings for runs in which a lock failed, or nil. Without a lock
// nothing can fail.
func bankFindings(results ...*bank.Result) error {
	var all []sim.Violation
	for _, r := range results {
		if r.Lock != bank.NoLock().Name {
			all = append(all, r.Found...)
		}
	}
	return violationFindings(all)
}

// shownAlgorithm is the algorithm whose run is printed in full.
const shownAlgorithm = "ricart-agrawala"

func bankTitle(lock algorithm.Spec) string {
	if lock.Name == bank.NoLock().Name {
		return "The bank without a lock"
	}
	return "The bank with " + lock.Title
}

// Rows of a printed diagram.
const (
	storyRows = 14
	bankRows  = 60
	crashRows = 30
)

// printStory prints what happens without a lock and with each algorithm. The first
// result is that without a lock, the second that of the shown algorithm.
func printStory(p *terminal.Printer, c bank.Config, results []*bank.Result, others string) {
	who := "each machine"
	if c.Machines == 1 {
		who = "it"
	}
	first := results[0]
	p.Text(0, fmt.Sprintf("An account holds %s. %s: %s reads the balance over the network, adds to it, and writes the sum back. In the end the account must hold %s.",
		words.Grouped(c.Balance), depositors(c), who, words.Grouped(first.Expected)))
	p.Gap()
	p.Line("%-50s┊ idle  ┃ waiting  █ inside", "WITHOUT A LOCK")
	printDiagram(p, c, first, storyRows, "--svg FILE draws it")
	printEnd(p, c, first)
	if text := luckText(c, first); text != "" {
		p.Text(0, text)
	}
	if len(results) < 2 {
		return
	}
	p.Gap()
	p.Line("THE SAME DEPOSITS, WITH %s", results[1].Lock)
	printDiagram(p, c, results[1], storyRows, fmt.Sprintf("--lock %s --svg FILE draws it", results[1].Lock))
	printEnd(p, c, results[1])
	if len(results) < 3 {
		return
	}
	p.Gap()
	p.Line("AND WITH %s (balance, lock messages)", others)
	printOthers(p, results[2:])
}

// luckText says why nothing was lost without a lock, or "" if something was.
func luckText(c bank.Config, r *bank.Result) string {
	switch {
	case r.Lost > 0 || r.Stopped:
		return ""
	case c.Machines == 1:
		return "A single machine has no competition: it takes two machines to lose money."
	case c.Amount == 0:
		return "Deposits of 0 cannot be lost: give an --amount."
	}
	return "By luck each machine read after the previous one had written. Another --seed may lose money."
}

// printCrash prints what a crash does, without recovery and with it.
func printCrash(p *terminal.Printer, c bank.Config, without, with *bank.Result) {
	p.Text(0, fmt.Sprintf("An account holds %s. %s, and %v crashes in the critical section.", words.Grouped(c.Balance), depositors(c), c.Crash.Who))
	for _, r := range []*bank.Result{without, with} {
		p.Gap()
		p.Line("WITH %s", r.Lock)
		printDiagram(p, c, r, crashRows, fmt.Sprintf("--lock %s --svg FILE draws it", r.Lock))
		printEnd(p, c, r)
	}
}

// printOthers lists runs in two columns, or in one if they are wide.
func printOthers(p *terminal.Printer, results []*bank.Result) {
	var cells []string
	room := 0
	for _, r := range results {
		cell := fmt.Sprintf("%-22s%8s%6d", terminal.Truncate(r.Lock, 22), words.Grouped(r.Balance), r.Messages)
		if r.Lost != 0 {
			cell += " LOST"
		}
		cells = append(cells, cell)
		room = max(room, utf8.RuneCountInString(cell))
	}
	columns := 2
	if 2*(room+2)+1 > terminal.ScreenWidth {
		columns = 1
	}
	rows := (len(cells) + columns - 1) / columns
	for i := range rows {
		line := cells[i]
		if i+rows < len(cells) {
			line = fmt.Sprintf("%-40s%s", line, cells[i+rows])
		}
		p.Line("  %s", line)
	}
}

// printBankRun prints one run.
func printBankRun(p *terminal.Printer, c bank.Config, r *bank.Result) {
	p.Line("%s: initial balance %s, seed %d.", bankTitle(c.Lock), words.Grouped(c.Balance), c.Seed)
	p.Line("%s.", depositors(c))
	p.Gap()
	printDiagram(p, c, r, bankRows, "--svg FILE draws it")
	p.Gap()
	printEnd(p, c, r)
	p.Line("%s, %s", words.Plural(r.Entries, "deposit"), words.Plural(r.Messages, "lock message"))
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

// printDiagram prints a diagram, or says how to draw a large one.
func printDiagram(p *terminal.Printer, c bank.Config, r *bank.Result, rows int, draws string) {
	if !bank.Fits(c.Machines, c.Deposits) {
		p.Line("(too large for a text diagram: %s)", draws)
		return
	}
	for _, row := range r.Diagram(c.Balance, rows) {
		p.Line("%s", row)
	}
}

// printEnd prints how a run ended, and why.
func printEnd(p *terminal.Printer, c bank.Config, r *bank.Result) {
	end := "The balance is " + words.Grouped(r.Balance)
	if r.Stopped {
		end += " so far"
	}
	why := overwrittenText(r)
	switch {
	case r.Lost > 0:
		end += fmt.Sprintf(". %s IS LOST%s.", words.Grouped(r.Lost), why)
	case why != "":
		end += fmt.Sprintf(": nothing is lost, because a deposit is 0%s.", strings.Replace(why, ":", ", but", 1))
	default:
		end += ": nothing is lost."
	}
	all := c.Machines * c.Deposits
	switch {
	case c.Crash.On && !r.Stopped:
		end = crashText(c, r) + " " + end
	case r.Entries < all && !r.Stopped:
		end += fmt.Sprintf(" But %s of %s were never made, because requests are no longer granted.", words.Grouped(all-r.Entries), words.Plural(all, "deposit"))
	}
	p.Text(0, end)
}

// crashText says how a machine crashed, and what that does to the others.
func crashText(c bank.Config, r *bank.Result) string {
	who := c.Crash.Who
	end := fmt.Sprintf("%v crashed after its read and before its write: its deposit was never made.", who)
	switch {
	case c.Crash.Fenced:
		end = fmt.Sprintf("%v crashed while its slow WRITE was in flight. When it arrived, the account had seen a later turn and refused it: the deposit was not made.", who)
		if r.Refused == 0 {
			end = fmt.Sprintf("%v crashed while its slow WRITE was in flight. No machine had a later turn, so the account accepted it.", who)
		}
	case c.Crash.Moment == bank.Late:
		end = fmt.Sprintf("%v crashed while its slow WRITE was in flight. It arrived 40 message times later.", who)
		if r.Lost > 0 {
			end += fmt.Sprintf(" No lock can recall it, but an account that checks turns can refuse it: --crash %d@fenced.", who+1)
		}
	case c.Crash.Moment == bank.Write:
		end = fmt.Sprintf("%v crashed while its WRITE was in flight; it arrived, so the deposit was made.", who)
	}
	switch n := len(r.Waiting); {
	case n == 0 && r.After > 0:
		end += " The others continued without it."
	case n == 0 && c.Machines > 1:
		end += " No machine wanted to enter after it: let another machine crash, or give another --seed, to see more."
	case n == 1:
		end += fmt.Sprintf(" P%d waits forever for a crashed machine.", r.Waiting[0])
	case n > 1:
		end += fmt.Sprintf(" %d machines wait forever for a crashed machine.", n)
	}
	return end
}

// overwrittenText says how deposits were overwritten, or "" if none were.
func overwrittenText(r *bank.Result) string {
	if len(r.Overwritten) == 0 {
		return ""
	}
	o := r.Overwritten[0]
	why := fmt.Sprintf(": %v read before %v had written", o.By, o.Of)
	if more := len(r.Overwritten) - 1; more > 0 {
		why += fmt.Sprintf(", and %s of this", words.Plural(more, "more case"))
	}
	return why
}
