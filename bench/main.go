package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	asWorker() // does not return in a process that was started as a worker
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "race:", err)
		os.Exit(1)
	}
}

// Options are the flags of a run.
type options struct {
	who, what          string
	rounds             int
	seconds            float64
	background         float64
	json, page, result string
	dir, note, at      string
}

// flags returns the flags, and where their values go.
func flags() (*flag.FlagSet, *options) {
	o := &options{}
	f := flag.NewFlagSet("race", flag.ContinueOnError)
	f.StringVar(&o.who, "entrants", "", "`NAMES` of entrants, with commas; a name that ends in * stands for all that begin so (default all)")
	f.StringVar(&o.what, "workloads", "", "`NAMES` of workloads, the same way (default all)")
	f.IntVar(&o.rounds, "rounds", 5, "`N` rounds of each workload")
	f.Float64Var(&o.seconds, "seconds", 0.4, "`SECONDS` of each measurement")
	f.Float64Var(&o.background, "background", 10, "repeat a measurement if other processes use more than `PERCENT` of the machine")
	f.StringVar(&o.json, "json", "", "write the result to `FILE`")
	f.StringVar(&o.page, "page", "", "write the page to `FILE`")
	f.StringVar(&o.result, "result", "", "measure nothing: take the result in `FILE`, written by -json")
	f.StringVar(&o.dir, "dir", "", "`DIR` for the temporary folder, on the disk to measure (default that of the system)")
	f.StringVar(&o.note, "note", "", "`TEXT` for the page about this run")
	f.StringVar(&o.at, "at", "", "`COMMIT` that is measured")
	return f, o
}

func command(ctx context.Context, args []string) error {
	f, o := flags()
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: see -help", f.Arg(0))
	}
	if o.result != "" {
		r, err := readResult(o.result)
		if err != nil {
			return err
		}
		return output(r, o)
	}
	if o.rounds < 1 || o.seconds <= 0 {
		return errors.New("rounds and seconds must be positive")
	}
	plan, err := choose(o)
	if err != nil {
		return err
	}
	r, err := run(ctx, o, plan)
	if err != nil {
		if r != nil {
			fmt.Print(table(r)) // a part of a result is shown, and not written
		}
		return err
	}
	return output(r, o)
}

// output prints the result, and writes it to the files that the flags name.
func output(r *Result, o *options) error {
	fmt.Print(table(r))
	if o.json != "" {
		if err := r.write(o.json); err != nil {
			return err
		}
	}
	if o.page != "" {
		return os.WriteFile(o.page, []byte(page(r)), 0o666)
	}
	return nil
}

// A selection is what a run measures.
type selection struct {
	entrants  []*entrant
	workloads []*workload
}

// choose returns the selected entrants and workloads.
func choose(o *options) (*selection, error) {
	var s selection
	var err error
	if s.entrants, err = pick("entrant", o.who, entrants, func(e *entrant) string { return e.Name }); err != nil {
		return nil, err
	}
	if s.workloads, err = pick("workload", o.what, workloads, func(w *workload) string { return w.Name }); err != nil {
		return nil, err
	}
	return &s, nil
}

// pick returns those of all whose names are in a list.
func pick[T any](kind, list string, all []*T, name func(*T) string) ([]*T, error) {
	if list == "" {
		return all, nil
	}
	var names []string
	for _, x := range all {
		names = append(names, name(x))
	}
	wanted := map[string]bool{}
	for _, pattern := range strings.Split(list, ",") {
		found := false
		for _, n := range names {
			if ok, err := filepath.Match(pattern, n); ok && err == nil {
				wanted[n], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%q is not the name of a %s: use %s", pattern, kind, strings.Join(names, ", "))
		}
	}
	var some []*T
	for _, x := range all {
		if wanted[name(x)] {
			some = append(some, x)
		}
	}
	return some, nil
}

// sleep waits, until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
