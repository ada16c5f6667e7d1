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
	output      traceOutput
}

// sceneNames lists the scenes.
func sceneNames() []string {
	var all []string
	for _, s := range bank.Scenes() {
		all = append(all, s.Name)
	}
	return all
}

// newScene returns the command.
func newScene() *cobra.Command {
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
		Args:              oneArg("the name of a scene: "+spell.Either(sceneNames()...), "scene", "play them one by one"),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
		ValidArgsFunction: cobra.FixedCompletions(sceneNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(textFlag(&f.lock, "none or the name of an algorithm: 'stile algorithms' lists them", cobra.FixedCompletions(append([]string{bank.NoLock().Name}, lockNames()...), cobra.ShellCompDirectiveNoFileComp)), "lock", "none, or the `ALGORITHM` by which the processes take turns")
	fs.VarP(countFlag(&f.nodes, 1, maxNodes), "nodes", "n", "how many processes")
	fs.Var(countFlag(&f.each, 1, maxEach), "each", "how many each of them takes")
	fs.Var(seedFlag(&f.seed), "seed", "which of many runs")
	fs.BoolVar(&f.json, "json", false, "print JSON, for programs; the lock is then none unless given")
	f.output.define(fs)
	return c
}

// findScene returns the scene of that name.
func findScene(name string) (bank.Scene, error) {
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
	spec, err := findAlgorithm(name, algorithm.Options{})
	if err != nil {
		return spec, fmt.Errorf("--lock: %w", err)
	}
	return spec, spec.Accepts(f.nodes)
}

func (f *sceneFlags) run(cmd *cobra.Command, name string) error {
	s, err := findScene(name)
	if err != nil {
		return err
	}
	lock, err := f.spec(f.lock)
	if err != nil {
		return err
	}
	c := s.Config(f.nodes, f.each, f.seed)
	c.Lock, c.Record = lock, f.output.requested() || !f.json && bank.Fits(f.nodes, f.each)
	rec := newRecorder(f.nodes+1, lock)
	rec.Title, rec.Kinds = sceneTitle(s, lock), slices.Concat(lock.Kinds, bank.Kinds())
	rec.Names = make([]string, f.nodes+1)
	rec.Names[f.nodes], rec.Beside = s.Lane, s.Number
	files, err := rec.files(&f.output)
	if err != nil {
		return err
	}
	return runAndReport(cmd.OutOrStdout(), f.json, files, func() (outcome, error) {
		live := startProgress(cmd)
		defer live.end()
		c.Watch = live.watch(s.Thing + "s")
		r, err := bank.Run(c)
		if err != nil {
			return outcome{}, err
		}
		rec.Events = r.Events
		rec.interrupted(sceneProgress(s, c, r))
		report := outcome{json: newSceneReport(s, r), stopped: sceneProgress(s, c, r), wrong: sceneFindings(r)}
		var others []*bank.Result
		if f.lock == "" && !f.json && report.stopped == "" {
			if others, err = f.others(c); err != nil {
				return report, err
			}
		}
		report.text = func(p *printer) { printScene(p, s, c, r, others) }
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

// sceneProgress says how far a scene was when it was stopped, if it was.
func sceneProgress(s bank.Scene, c bank.Config, r *bank.Result) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Entries), words.Plural(c.Machines*c.Deposits, s.Thing))
}

// sceneFindings is the error of a scene in which a lock failed.
func sceneFindings(r *bank.Result) error {
	if r.Lock == bank.NoLock().Name {
		return nil
	}
	return violationFindings(r.Found)
}

func sceneTitle(s bank.Scene, lock algorithm.Spec) string {
	if lock.Name == bank.NoLock().Name {
		return s.Title + ", without a lock"
	}
	return s.Title + ", with " + lock.Title
}

// A sceneReport is what programs are told.
type sceneReport struct {
	Scene    string        `json:"scene"`
	Lock     string        `json:"lock"`
	Nodes    int           `json:"nodes"`
	Each     int           `json:"each"` // how many each process takes
	Seed     uint64        `json:"seed"`
	Taken    int           `json:"taken"`   // in all
	Counted  int64         `json:"counted"` // what the number is in the end
	Lost     int64         `json:"lost"`    // by how much that is less than what was taken
	Doubled  []bank.Double `json:"doubled"` // what was taken more than once, and by whom
	Messages int           `json:"messages"`
	Stopped  bool          `json:"stopped,omitempty"`
}

func newSceneReport(s bank.Scene, r *bank.Result) sceneReport {
	return sceneReport{
		Scene: s.Name, Lock: r.Lock, Nodes: r.Machines, Each: r.Deposits, Seed: r.Seed, Taken: r.Entries,
		Counted: r.Balance, Lost: r.Lost, Doubled: r.Doubles(), Messages: r.Messages, Stopped: r.Stopped,
	}
}

// sceneRows is how many rows of a diagram are shown.
const sceneRows = 40

// printScene tells a scene, and how it went with other locks, if it was played with
// some.
func printScene(p *printer, s bank.Scene, c bank.Config, r *bank.Result, others []*bank.Result) {
	p.line("%s, seed %d", sceneTitle(s, c.Lock), c.Seed)
	p.gap()
	times := ""
	if c.Deposits > 1 {
		times = fmt.Sprintf(", %s times", words.Grouped(c.Deposits))
	}
	p.text(0, fmt.Sprintf("%s. Each %s%s.", words.Plural(c.Machines, s.Who), s.Does, times))
	p.gap()
	if bank.Fits(c.Machines, c.Deposits) {
		for _, row := range r.Diagram(0, sceneRows) {
			p.line("%s", row)
		}
	} else {
		p.line("(too much for a diagram as text: --svg FILE draws it)")
	}
	p.gap()
	p.text(0, sceneEnd(s, c, r))
	p.line("%s taken, %s of the lock", words.Plural(r.Entries, s.Thing), words.Plural(r.Messages, "message"))
	if others == nil {
		return
	}
	right := 0
	for _, o := range others {
		if o.Lost == 0 && len(o.Doubles()) == 0 && o.Entries == c.Machines*c.Deposits {
			right++
		}
	}
	p.gap()
	p.text(0, fmt.Sprintf("With the %s that are sound and take %s: right with %d of them, no %s twice.",
		words.Plural(len(others), "algorithm"), words.Plural(c.Machines, "process"), right, s.Thing))
}

// sceneEnd says how it ended, and why.
func sceneEnd(s bank.Scene, c bank.Config, r *bank.Result) string {
	doubles := r.Doubles()
	all := c.Machines * c.Deposits
	text := ""
	switch {
	case len(doubles) == 0 && r.Entries == all:
		text = fmt.Sprintf("No %s is taken twice.", s.Thing)
		if r.Lock == bank.NoLock().Name && c.Machines > 1 {
			text += " That is luck: another --seed may double one."
		}
	case len(doubles) == 0:
		text = fmt.Sprintf("No %s is taken twice.", s.Thing)
	default:
		d := doubles[0]
		text = fmt.Sprintf("%s %d %s (%s).", strings.ToUpper(s.Thing[:1])+s.Thing[1:], d.Number, s.Twice, takers(d.By))
		if more := len(doubles) - 1; more > 0 {
			text += fmt.Sprintf(" So it is with %s.", words.Plural(more, "more "+s.Thing))
		}
		text += " " + fmt.Sprintf(s.Left, words.Grouped(r.Balance), words.Grouped(r.Entries)) + "."
	}
	if r.Stopped {
		text += " That is so far."
	}
	if r.Entries < all && !r.Stopped {
		text += fmt.Sprintf(" But only %s of %s were taken: whoever asks is not let in any more.", words.Grouped(r.Entries), words.Plural(all, s.Thing))
	}
	return text
}

// takers names who has taken a thing.
func takers(by []int) string {
	const most = 3
	var all []string
	for _, p := range by[:min(len(by), most)] {
		all = append(all, fmt.Sprintf("P%d", p))
	}
	if more := len(by) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all, ", "), more)
	}
	return strings.Join(all, " and ")
}
