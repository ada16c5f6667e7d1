// Command bank transfers money between accounts in SQLite or PostgreSQL, under the locks of a
// cluster of three nodes, while nodes are killed, processes are paused, and nodes are cut off
// from each other. At the end it compares every balance with the transfers that were made.
//
// A transfer locks its two accounts, reads both balances in one transaction of the database,
// and writes both back in another, as between a form and its submission. So the database alone
// does not prevent lost updates: the lock does. Both transactions begin by presenting the
// fencing tokens of both locks, so that the database refuses a worker that was paused until its
// lease expired. See docs/bank.md.
//
// The nodes and the workers are processes of this program. Each ends when its input does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// noLock is the lock of a run whose transfers acquire none.
const noLock = "none"

// A config describes a run.
type config struct {
	Lock     string // noLock, an algorithm, or kept:METHOD
	Fence    bool   // the database checks fencing tokens
	Chaos    []string
	Postgres string // URL of a database; empty: an SQLite file
	Time     time.Duration
	Workers  int
	Accounts int
}

// faults are what -chaos takes.
var faults = []string{"kill", "pause", "partition"}

func main() {
	if len(os.Args) == 2 && (os.Args[1] == nodeRole || os.Args[1] == workerRole) {
		if err := child(os.Args[1]); err != nil {
			fmt.Fprintf(os.Stderr, "bank %s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	var c config
	var chaos string
	flag.StringVar(&c.Lock, "lock", "naimi-trehel", "`ALGORITHM` of the locks, none, or kept:METHOD for transactions that can deadlock")
	flag.BoolVar(&c.Fence, "fence", true, "the database checks fencing tokens")
	flag.StringVar(&chaos, "chaos", "", "`FAULTS` that strike in turn: "+strings.Join(faults, ",")+" or some of them")
	flag.StringVar(&c.Postgres, "postgres", "", "`URL` of a PostgreSQL database (default an SQLite file)")
	flag.DurationVar(&c.Time, "time", 15*time.Second, "duration of the transfers")
	flag.IntVar(&c.Workers, "workers", 8, "number of transfers at a time")
	flag.IntVar(&c.Accounts, "accounts", 10, "number of accounts, 2 to 999")
	flag.Parse()
	if chaos != "" {
		c.Chaos = strings.Split(chaos, ",")
	}
	c.Fence = c.Fence && c.Lock != noLock
	if err := c.check(); err != nil {
		fmt.Fprintln(os.Stderr, "bank:", err)
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	r, err := runBank(ctx, c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bank:", err)
		os.Exit(2)
	}
	r.print()
	if r.wrong > 0 && c.Fence {
		os.Exit(1)
	}
}

// check returns why there can be no such run.
func (c *config) check() error {
	for _, f := range c.Chaos {
		if !slices.Contains(faults, f) {
			return fmt.Errorf("unknown fault %q: choose from %s", f, strings.Join(faults, ","))
		}
	}
	if flag.NArg() > 0 || c.Accounts < 2 || c.Accounts > 999 || c.Workers < 1 {
		return errors.New("want 2 to 999 accounts, at least 1 worker, and no arguments but flags")
	}
	return nil
}

// A report is the result of a run.
type report struct {
	config
	tally
	ledger
	killed, paused, isolated int // processes
}

// A tally counts attempts of transfers that failed.
type tally struct {
	Refused   int // by the fence
	Deadlocks int // with ErrDeadlock, in a deadlock or to prevent one
}

func (r *report) print() {
	fmt.Printf("\nlock %s, fence %v: %d nodes killed, %d processes paused, %d nodes isolated\n", r.Lock, r.Fence, r.killed, r.paused, r.isolated)
	fmt.Printf("%d transfers; %d attempts refused by the fence, %d aborted against deadlock\n", r.made, r.Refused, r.Deadlocks)
	fmt.Printf("expected %d in all, found %d: ", r.expected, r.found)
	if r.wrong == 0 {
		fmt.Println("exact, on every account")
		return
	}
	fmt.Printf("%d accounts have a WRONG balance, off by %d together\n", r.wrong, r.off)
}
