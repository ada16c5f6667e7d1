package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

func newAlgorithms() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "algorithms [--json]",
		Short: "List the algorithms and what theory says about them",
		Long: `Lists the algorithms with their year, class, messages per entry, client delay
(from request to entry when no other process competes), synchronisation delay
(from one process's exit to the next one's entry), authors, the weakest network
they are correct on, the order of entries, whether all processes have the same
role, and whether a live cluster can run them.

The class says what a process needs to enter: permission from a coordinator
(central) or from all others, votes from a quorum, or the token.

N is the number of processes, K the size of a quorum, D the diameter of a tree
and T the latency of one message. Algorithms known to be wrong are listed
separately. So are the elections, with the messages of an election that one
process starts. No live cluster can run either of them.`,
		Args: terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all := describeAlgorithms(catalog.Every())
			return terminal.Outcome{JSON: all, Text: printAlgorithms}.Print(c.OutOrStdout(), asJSON)
		},
		DisableFlagsInUseLine: true,
	}
	terminal.JSONFlag(c.Flags(), &asJSON)
	return c
}

// An algorithmReport is an algorithm.Spec without its code.
type algorithmReport struct {
	Name     string   `json:"name"`
	Family   string   `json:"family"`
	Class    string   `json:"class,omitempty"` // elections have none
	Title    string   `json:"title"`
	Authors  string   `json:"authors"`
	Year     int      `json:"year"`
	Paper    string   `json:"paper"`
	Sound    bool     `json:"sound"`
	Wrong    string   `json:"wrong,omitempty"`  // what goes wrong
	Weaker   string   `json:"weaker,omitempty"` // what is worse
	Fixed    string   `json:"fixed,omitempty"`  // the name of the sound one
	Shown    string   `json:"shown,omitempty"`  // by which command
	Network  string   `json:"network"`
	TryLock  bool     `json:"try_lock"`
	Kinds    []string `json:"message_kinds"`
	Messages string   `json:"messages_per_entry"`
	Multi    string   `json:"multicasts_per_entry"`
	Client   string   `json:"client_delay"`
	Sync     string   `json:"sync_delay"`
	Order    string   `json:"order"`
	ME3      bool     `json:"me3"`
	Symm     bool     `json:"symmetric"`
	Live     bool     `json:"live"`               // a live member may run it
	NotLive  string   `json:"not_live,omitempty"` // why not
	Version  int      `json:"bytes_version"`      // of its messages and states
}

func describeAlgorithms(specs []algorithm.Spec) []algorithmReport {
	list := make([]algorithmReport, len(specs))
	for i, s := range specs {
		t := s.Theory
		list[i] = algorithmReport{
			Name: s.Name, Family: s.Family.String(), Class: s.Class.String(), Title: s.Title, Authors: s.Authors, Year: s.Year, Paper: s.Paper,
			Sound: s.Sound(), Wrong: s.Wrong, Weaker: s.Weaker, Fixed: s.Fixed, Shown: s.Shown, Network: s.Network.String(),
			TryLock: s.TryLock, Kinds: s.Kinds, Messages: t.Messages.Text, Multi: t.Multicasts.Text,
			Client: t.Client.Text, Sync: t.Sync.Text, Order: t.Order, ME3: t.ME3, Symm: t.Symmetric,
			Live: catalog.NotLive(s) == "", NotLive: catalog.NotLive(s), Version: s.Version,
		}
	}
	return list
}

func printAlgorithms(p *terminal.Printer) {
	printCells(p, "ALGORITHM", "YEAR", "CLASS", "MESSAGES PER ENTRY", "CLIENT DELAY", "SYNC DELAY")
	some := func(which func(s algorithm.Spec) bool) {
		for _, s := range catalog.All() {
			if which(s) {
				printAlgorithm(p, s)
			}
		}
		p.Gap()
	}
	some(algorithm.Spec.Sound)
	p.Line("WRONG: kept to show how they fail")
	some(func(s algorithm.Spec) bool { return s.Wrong != "" })
	p.Line("WEAKER: correct, but other algorithms guarantee more")
	some(func(s algorithm.Spec) bool { return s.Weaker != "" })
	last := algorithm.MutualExclusion
	for _, s := range catalog.Every()[len(catalog.All()):] {
		if s.Family != last {
			if last != algorithm.MutualExclusion {
				p.Gap()
			}
			last = s.Family
			f := families.Of(s)
			p.Line("%s: %s", strings.ToUpper(f.Name), f.Means)
			printCells(p, "ALGORITHM", "YEAR", "", "MESSAGES", "", "")
		}
		printAlgorithm(p, s)
	}
}

func printAlgorithm(p *terminal.Printer, s algorithm.Spec) {
	t := s.Theory
	name, year := s.Name, ""
	if !s.Sound() {
		name = "! " + name
	}
	if s.Year != 0 {
		year = fmt.Sprint(s.Year)
	}
	printCells(p, name, year, s.Class.String(), cmp.Or(t.Messages.Text, "-"), cmp.Or(t.Client.Text, "-"), cmp.Or(t.Sync.Text, "-"))
	symmetry := "not symmetric"
	if t.Symmetric {
		symmetry = "symmetric"
	}
	facts := []string{s.Authors, "network: " + s.Network.String(), "order: " + t.Order, symmetry}
	if why := catalog.NotLive(s); why == "" {
		facts = append(facts, "live")
	} else if s.Sound() && s.Family == algorithm.MutualExclusion {
		facts = append(facts, "not live: "+why)
	}
	p.Text(4, strings.Join(facts, " · "))
	text := "WRONG: " + s.Wrong
	if s.Weaker != "" {
		text = "WEAKER: " + s.Weaker
	}
	if !s.Sound() {
		p.Text(4, text+" (sound: "+s.Fixed+")")
		p.Line("    see: %s", s.Shown)
	}
}

// printCells prints a row of the table; long cells continue on the next lines.
func printCells(p *terminal.Printer, cells ...string) {
	widths := []int{22, 4, 11, 16, 11, 10}
	var columns [][]string
	height := 0
	for i, cell := range cells {
		columns = append(columns, words.Wrap(cell, widths[i]))
		height = max(height, len(columns[i]))
	}
	for row := range height {
		line := ""
		for i, lines := range columns {
			cell := ""
			if row < len(lines) {
				cell = lines[row]
			}
			line += fmt.Sprintf("%-*s ", widths[i], cell)
		}
		p.Line("%s", line)
	}
}
