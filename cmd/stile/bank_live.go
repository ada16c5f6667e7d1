package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lab/bank"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/teller"
	"github.com/stile-lock/stile/internal/words"
)

// Bounds of a live bank.
const (
	maxTransfers = 10_000_000
	maxWorkers   = 256
)

// Numbers of transfers that take a few seconds, with most locks and with slowLock.
const (
	usualTransfers = 3000
	slowTransfers  = 100
)

// slowLock is the lock with which each deadlock lasts for seconds.
func slowLock() string { return member.Kept(deadlock.Timeout()) }

// liveFlags holds the flags that only 'stile bank --live' has.
type liveFlags struct {
	on        bool
	postgres  string
	transfers int
	workers   int
	accounts  int
	fence     string
	chaos     string
}

// The flags of 'stile bank' that have a meaning in only one of its two forms.
const (
	liveOnly      = "postgres transfers workers accounts fence chaos"
	simulatedOnly = "machines deposits amount balance crash svg trace from to clocks"
)

func (f *liveFlags) define(fs *pflag.FlagSet) {
	*f = liveFlags{workers: 8, accounts: 10, fence: "on"}
	fs.BoolVar(&f.on, "live", false, "transfers between accounts in a database, with a cluster of real processes")
	fs.Var(textFlag(&f.postgres, "a URL such as postgres://user@host/database", nil), "postgres", "with --live: `URL` of a PostgreSQL database (default an SQLite file)")
	fs.Var(countFlag(&f.transfers, 1, maxTransfers), "transfers", fmt.Sprintf("with --live: number of transfers (default %d; %d with %s, which waits for long)", usualTransfers, slowTransfers, slowLock()))
	fs.Var(countFlag(&f.workers, 1, maxWorkers), "workers", "with --live: number of transfers at a time")
	fs.Var(countFlag(&f.accounts, 2, teller.MaxAccounts), "accounts", "with --live: number of accounts")
	fs.Var(choiceFlag(&f.fence, "on", "off"), "fence", "with --live: `STATE` of the fence, on or off: whether the database checks fencing tokens; off without a lock")
	fs.Var(choicesFlag(&f.chaos, teller.Faults(), nil, "none"), "chaos", "with --live: `FAULTS` that strike: "+strings.Join(teller.Faults(), ",")+" or one of them (default none)")
	hideDefaults(fs, "transfers")
}

// keptNames returns the locks with which a transfer is a transaction.
func keptNames() []string {
	var names []string
	for _, m := range member.KeptMethods() {
		names = append(names, member.Kept(m))
	}
	return names
}

// checkForm refuses flags of the other form of 'stile bank'.
func (f *liveFlags) checkForm(c *cobra.Command) error {
	if f.on {
		return refuseFlags(c, simulatedOnly, "--FLAG is for the simulated bank: leave it out, or leave out --live")
	}
	return refuseFlags(c, liveOnly, "--FLAG is for the live bank: give --live too")
}

// config returns the run that the flags describe.
func (f *liveFlags) config(c *cobra.Command, lock string, seed uint64) (teller.Config, error) {
	t := teller.Config{
		Postgres: f.postgres, Transfers: f.transfers, Workers: f.workers, Accounts: f.accounts, Lock: lock, Fence: f.fence == "on", Seed: seed,
	}
	if lock == "" {
		t.Lock = liveNames()[0]
	}
	switch {
	case t.Transfers > 0:
	case t.Lock == slowLock():
		t.Transfers = slowTransfers
	default:
		t.Transfers = usualTransfers
	}
	if t.Lock == bank.NoLock().Name && !c.Flags().Changed("fence") {
		t.Fence = false
	}
	if f.chaos != "" && f.chaos != "none" {
		t.Chaos = strings.Split(f.chaos, ",")
	}
	if err := t.Check(); err != nil {
		return t, fmt.Errorf("--live: %w", err)
	}
	return t, nil
}

// run runs the live bank.
func (f *liveFlags) run(c *cobra.Command, lock string, seed uint64, asJSON bool) error {
	t, err := f.config(c, lock, seed)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	return runAndReport(out, asJSON, nil, func() (outcome, error) {
		prog := startProgress(c)
		defer prog.end()
		var failed error
		if !asJSON {
			t.Event = func(e teller.Event) {
				prog.print(out, fmt.Sprintf("%6.1f s  %s", e.Seconds, e.Text))
				failed = errors.Join(failed, flush(out))
			}
		}
		t.Progress = func(made int, n teller.Tally) {
			prog.show("%s of %s, %s refused, %s aborted", words.Grouped(made), words.Plural(t.Transfers, "transfer"), words.Grouped(n.Refused), words.Grouped(n.Deadlocks))
		}
		r, err := teller.Run(prog, t)
		if err == nil {
			err = failed
		}
		stopped := ""
		if !prog.on() {
			stopped = fmt.Sprintf("0 of %s", words.Plural(t.Transfers, "transfer"))
		}
		switch {
		case r == nil && stopped != "":
			return outcome{}, interruptedAfter(stopped)
		case err != nil:
			return outcome{}, err
		case stopped != "":
			stopped = fmt.Sprintf("%s of %s", words.Grouped(r.Made), words.Plural(t.Transfers, "transfer"))
		}
		o := outcome{json: r, text: func(p *printer) { printLiveBank(p, r) }, stopped: stopped}
		if r.Failed() {
			o.wrong = findings{[]string{fmt.Sprintf("%s with a wrong balance, although lock and fence were on", words.Plural(r.Wrong, "account"))}}
		}
		return o, nil
	})
}

// printLiveBank prints the ledger of a run.
func printLiveBank(p *printer, r *teller.Report) {
	p.gap()
	if r.Deadlock != nil {
		printGraph(p, r.Deadlock, nil)
		p.gap()
	}
	fence := "off"
	if r.Fence {
		fence = "on"
	}
	p.row("bank", "lock %s, fence %s, %s: %s", r.Lock, fence, r.Store, faultsText(r))
	p.row("transfers", "%s of %s in %.1f s, which moved %s", words.Grouped(r.Made), words.Grouped(r.Transfers), r.Seconds, words.Grouped(r.Moved))
	p.row("refused", "%s, by the fence", words.Plural(r.Refused, "request"))
	p.row("retried", "%s; %s aborted against deadlock, %s", words.Plural(r.Retried, "attempt"), words.Grouped(r.Deadlocks), words.Plural(r.Lost, "lost lock"))
	p.row("expected", "%s in all", words.Grouped(r.Expected))
	p.row("found", "%s in all: %s", words.Grouped(r.Found), differenceText(r))
	p.gap()
	p.text(0, r.Why())
}

// faultsText says what struck.
func faultsText(r *teller.Report) string {
	var all []string
	if r.Killed > 0 {
		all = append(all, words.Plural(r.Killed, "node")+" killed")
	}
	if r.Paused > 0 {
		all = append(all, words.Plural(r.Paused, "process")+" paused")
	}
	if r.Isolated > 0 {
		all = append(all, words.Plural(r.Isolated, "node")+" isolated")
	}
	if len(all) == 0 {
		return "no faults"
	}
	return strings.Join(all, ", ")
}

// differenceText says how the balances differ from what they should be.
func differenceText(r *teller.Report) string {
	if r.Exact() {
		return "exact, on every account"
	}
	what := "the total is right, by luck"
	switch off := r.Found - r.Expected; {
	case off < 0:
		what = words.Grouped(-off) + " LOST"
	case off > 0:
		what = words.Grouped(off) + " MADE FROM NOTHING"
	}
	return fmt.Sprintf("%s; %s with a wrong balance, off by %s together", what, words.Plural(r.Wrong, "account"), words.Grouped(r.Off))
}
