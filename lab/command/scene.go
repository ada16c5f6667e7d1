package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/lab/bank"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// maxEach is the maximum of --each.
const maxEach = 1000

// sceneFlags holds the flags of 'stile-lab scene'.
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

func newScene() *cobra.Command {
	f := &sceneFlags{nodes: 4, each: 1, seed: 1}
	c := &cobra.Command{
		Use:   "scene SCENE [flags]",
		Short: "Show what else is duplicated without mutual exclusion",
		Long: `Like 'stile-lab bank', in other settings: processes read a number over the network,
take the next one, and write it back. If one reads between another's read and
write, both take the same number.

  seats      box offices sell the seats of one hall
  ids        servers assign unique ids
  files      editors append lines to a file in a shared folder
  calendar   secretaries book the hours of one room
  tasks      workers divide tasks among themselves

Without --lock the scene is run without a lock, and then with every sound
algorithm. Only the messages of the lock are counted.`,
		Example: `  stile-lab scene seats
  stile-lab scene ids --nodes 4 --each 3 --lock none
  stile-lab scene tasks --lock raymond --svg tasks.svg`,
		Args:              terminal.OneArg("the name of a scene: "+spell.Either(sceneNames()...), "scene", "run them one at a time"),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
		ValidArgsFunction: cobra.FixedCompletions(sceneNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	fs := c.Flags()
	fs.SortFlags = false
	lockOrNoneFlag(fs, &f.lock)
	fs.VarP(terminal.CountFlag(&f.nodes, 1, maxNodes), "nodes", "n", "number of processes")
	fs.Var(terminal.CountFlag(&f.each, 1, maxEach), "each", "number of things that each process takes")
	fs.Var(seedFlag(&f.seed), "seed", "seed of the run")
	fs.BoolVar(&f.json, "json", false, "JSON output, for programs; --lock is then none by default")
	f.output.define(fs)
	return c
}

// findScene returns the scene with this name.
func findScene(name string) (bank.Scene, error) {
	all := bank.Scenes()
	i := slices.IndexFunc(all, func(s bank.Scene) bool { return s.Name == name })
	switch {
	case strings.HasSuffix(name, ".stile"):
		return bank.Scene{}, fmt.Errorf("%q is a scenario file, not a scene: see 'stile-lab replay'", name)
	case i < 0:
		return bank.Scene{}, fmt.Errorf("unknown scene %q: must be %s%s", name, spell.Either(sceneNames()...), spell.DidYouMean(name, sceneNames()...))
	}
	return all[i], nil
}

func (f *sceneFlags) run(cmd *cobra.Command, name string) error {
	s, err := findScene(name)
	if err != nil {
		return err
	}
	lock, err := lockOrNone(f.lock, f.nodes)
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
	return terminal.RunAndReport(cmd.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		prog := terminal.StartProgress(cmd)
		defer prog.End()
		c.Watch = watchRun(prog, s.Thing+"s")
		r, err := bank.Run(c)
		if err != nil {
			return terminal.Outcome{}, err
		}
		rec.Events = r.Events
		rec.interrupted(sceneProgress(s, c, r))
		report := terminal.Outcome{JSON: newSceneReport(s, r), Stopped: sceneProgress(s, c, r), Wrong: bankFindings(r)}
		var others []*bank.Result
		if f.lock == "" && !f.json && report.Stopped == "" {
			if others, err = f.others(c); err != nil {
				return report, err
			}
		}
		report.Text = func(p *terminal.Printer) { printScene(p, s, c, r, others) }
		return report, nil
	})
}

// others repeats the run with every sound algorithm.
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

// sceneProgress says how far a run was when it was interrupted, if it was.
func sceneProgress(s bank.Scene, c bank.Config, r *bank.Result) string {
	if !r.Stopped {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(r.Entries), words.Plural(c.Machines*c.Deposits, s.Thing))
}

func sceneTitle(s bank.Scene, lock algorithm.Spec) string {
	if lock.Name == bank.NoLock().Name {
		return s.Title + ", without a lock"
	}
	return s.Title + ", with " + lock.Title
}

// A sceneReport is the JSON form of a result.
type sceneReport struct {
	Scene    string        `json:"scene"`
	Lock     string        `json:"lock"`
	Nodes    int           `json:"nodes"`
	Each     int           `json:"each"` // number of things that each process takes
	Seed     uint64        `json:"seed"`
	Taken    int           `json:"taken"`   // in total
	Counted  int64         `json:"counted"` // the number in the end
	Lost     int64         `json:"lost"`    // taken minus counted
	Doubled  []bank.Double `json:"doubled"` // what was taken more than once, and by which processes
	Messages int           `json:"messages"`
	Stopped  bool          `json:"stopped,omitempty"`
}

func newSceneReport(s bank.Scene, r *bank.Result) sceneReport {
	return sceneReport{
		Scene: s.Name, Lock: r.Lock, Nodes: r.Machines, Each: r.Deposits, Seed: r.Seed, Taken: r.Entries,
		Counted: r.Balance, Lost: r.Lost, Doubled: r.Doubles(), Messages: r.Messages, Stopped: r.Stopped,
	}
}

// sceneRows is the number of rows of a printed diagram.
const sceneRows = 40

// printScene prints a run and, if there are any, the results with other locks.
func printScene(p *terminal.Printer, s bank.Scene, c bank.Config, r *bank.Result, others []*bank.Result) {
	p.Line("%s, seed %d", sceneTitle(s, c.Lock), c.Seed)
	p.Gap()
	times := ""
	if c.Deposits > 1 {
		times = fmt.Sprintf(", %s times", words.Grouped(c.Deposits))
	}
	p.Text(0, fmt.Sprintf("%s. Each %s%s.", words.Plural(c.Machines, s.Who), s.Does, times))
	p.Gap()
	printDiagram(p, c, r, sceneRows, "--svg FILE draws it")
	p.Gap()
	p.Text(0, sceneEnd(s, c, r))
	p.Line("%s taken, %s", words.Plural(r.Entries, s.Thing), words.Plural(r.Messages, "lock message"))
	if others == nil {
		return
	}
	right := 0
	for _, o := range others {
		if o.Lost == 0 && len(o.Doubles()) == 0 && o.Entries == c.Machines*c.Deposits {
			right++
		}
	}
	p.Gap()
	p.Text(0, fmt.Sprintf("Of the %s that are sound and support %s, %d get it right: no %s is taken twice.",
		words.Plural(len(others), "algorithm"), words.Plural(c.Machines, "process"), right, s.Thing))
}

// sceneEnd says how a run ended, and why.
func sceneEnd(s bank.Scene, c bank.Config, r *bank.Result) string {
	doubles := r.Doubles()
	all := c.Machines * c.Deposits
	text := ""
	switch {
	case len(doubles) == 0 && r.Entries == all:
		text = fmt.Sprintf("No %s is taken twice.", s.Thing)
		if r.Lock == bank.NoLock().Name && c.Machines > 1 {
			text += " That is luck: another --seed may duplicate one."
		}
	case len(doubles) == 0:
		text = fmt.Sprintf("No %s is taken twice.", s.Thing)
	default:
		d := doubles[0]
		text = fmt.Sprintf("%s %d %s (%s).", strings.ToUpper(s.Thing[:1])+s.Thing[1:], d.Number, s.Twice, takers(d.By))
		if more := len(doubles) - 1; more > 0 {
			text += fmt.Sprintf(" The same happens to %s.", words.Plural(more, "more "+s.Thing))
		}
		text += " " + fmt.Sprintf(s.Left, words.Grouped(r.Balance), words.Grouped(r.Entries)) + "."
	}
	if r.Stopped {
		text += " These are the results so far."
	}
	if r.Entries < all && !r.Stopped {
		text += fmt.Sprintf(" But only %s of %s were taken: requests are no longer granted.", words.Grouped(r.Entries), words.Plural(all, s.Thing))
	}
	return text
}

// takers lists the processes that took a thing.
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
