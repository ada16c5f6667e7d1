package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/bank"
)

// maxEach is how often each process takes something at most.
const maxEach = 1000

// sceneFlags is what 'stile scene' can be told.
type sceneFlags struct {
	lock        string
	nodes, each int
	seed        uint64
	json        bool
	files       Scene
}

// sceneNames lists the scenes.
func sceneNames() []string {
	var all []string
	for _, s := range bank.Scenes() {
		all = append(all, s.Name)
	}
	return all
}

// sceneNew returns the command.
func sceneNew() *cobra.Command {
	f := &sceneFlags{nodes: 4, each: 1, seed: 1}
	c := &cobra.Command{
		Use:   "scene SCENE [flags]",
		Short: "See what else is doubled without mutual exclusion",
		Long: `The bank in other words: processes read a number over the network, take the next
one, and write it back. If one reads between another's read and write, both take
the same.

  seats      box offices sell the seats of one hall
  ids        servers give out unique ids
  files      editors add lines to a file in a shared folder
  calendar   secretaries book the hours of one room
  tasks      workers split tasks among them

Without --lock it is played without a lock, and then with every sound algorithm.
The messages it counts are those of the lock.`,
		Example: `  stile scene seats
  stile scene ids --nodes 4 --each 3 --lock none
  stile scene tasks --lock raymond --svg tasks.svg`,
		Args:              One("the name of a scene: "+spell.Either(sceneNames()...), "scene", "play them one by one"),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
		ValidArgsFunction: cobra.FixedCompletions(sceneNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(Text(&f.lock, "none or the name of an algorithm: 'stile algorithms' lists them", cobra.FixedCompletions(append([]string{bank.NoLock().Name}, Locks()...), cobra.ShellCompDirectiveNoFileComp)), "lock", "none, or the `ALGORITHM` by which the processes take turns")
	fs.VarP(Count(&f.nodes, 1, MaxNodes), "nodes", "n", "how many processes")
	fs.Var(Count(&f.each, 1, maxEach), "each", "how many each of them takes")
	fs.Var(Seed(&f.seed), "seed", "which of many runs")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs; the lock is then none unless given")
	f.files.Define(fs)
	return c
}

// find returns the scene of that name.
func find(name string) (bank.Scene, error) {
	all := bank.Scenes()
	i := slices.IndexFunc(all, func(s bank.Scene) bool { return s.Name == name })
	switch {
	case strings.HasSuffix(name, ".stile"):
		return bank.Scene{}, fmt.Errorf("%q is no scene but a scenario: see 'stile replay'", name)
	case i < 0:
		return bank.Scene{}, fmt.Errorf("unknown scene %q: want %s%s", name, spell.Either(sceneNames()...), spell.DidYouMean(name, sceneNames()...))
	}
	return all[i], nil
}

// spec returns the algorithm of that name, which may be none.
func (f *sceneFlags) spec(name string) (algorithm.Spec, error) {
	if name == "" || name == bank.NoLock().Name {
		return bank.NoLock(), nil
	}
	spec, err := Spec(name, algorithm.Options{})
	if err != nil {
		return spec, fmt.Errorf("--lock: %w", err)
	}
	return spec, spec.Accepts(f.nodes)
}

func (f *sceneFlags) run(cmd *cobra.Command, name string) error {
	s, err := find(name)
	if err != nil {
		return err
	}
	lock, err := f.spec(f.lock)
	if err != nil {
		return err
	}
	c := s.Config(f.nodes, f.each, f.seed)
	c.Lock, c.Record = lock, f.files.Asked() || !f.json && bank.Fits(f.nodes, f.each)
	rec := NewRecorder(f.nodes+1, lock)
	rec.Title, rec.Kinds = sceneTitle(s, lock), slices.Concat(lock.Kinds, bank.Kinds())
	rec.Names = make([]string, f.nodes+1)
	rec.Names[f.nodes], rec.Beside = s.Lane, s.Number
	files, err := rec.Files(&f.files)
	if err != nil {
		return err
	}
	return tellRun(cmd.OutOrStdout(), f.json, files, func() (Report, error) {
		live := Begin(cmd)
		defer live.End()
		c.Watch = live.Watch(s.Thing + "s")
		r, err := bank.Run(c)
		if err != nil {
			return Report{}, err
		}
		rec.Events = r.Events
		rec.Interrupted(sceneFar(s, c, r))
		report := Report{JSON: answer(s, r), Stopped: sceneFar(s, c, r), Wrong: sceneBroken(r)}
		var others []*bank.Result
		if f.lock == "" && !f.json && report.Stopped == "" {
			if others, err = f.others(c); err != nil {
				return report, err
			}
		}
		report.Text = func(p *Page) { sceneShow(p, s, c, r, others) }
		return report, nil
	})
}

// others plays the scene with every sound algorithm.
func (f *sceneFlags) others(c bank.Config) ([]*bank.Result, error) {
	var all []*bank.Result
	c.Record = false
	for _, c.Lock = range catalog.Sound() {
		if c.Lock.Accepts(f.nodes) != nil {
			continue
		}
		r, err := bank.Run(c)
		if err != nil {
			return nil, err
		}
		if r.Stopped {
			break
		}
		all = append(all, r)
	}
	return all, nil
}

// sceneFar says how far a scene was when it was stopped, if it was.
func sceneFar(s bank.Scene, c bank.Config, r *bank.Result) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Entries), words.Plural(c.Machines*c.Deposits, s.Thing))
}

// sceneBroken is the error of a scene in which a lock failed.
func sceneBroken(r *bank.Result) error {
	if r.Lock == bank.NoLock().Name {
		return nil
	}
	return Violations(r.Found)
}

func sceneTitle(s bank.Scene, lock algorithm.Spec) string {
	if lock.Name == bank.NoLock().Name {
		return s.Title + ", without a lock"
	}
	return s.Title + ", with " + lock.Title
}
