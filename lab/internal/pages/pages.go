package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/lab/internal/document"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/scenarios"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A File is a file of docs/algorithms.
type File struct {
	Name string
	Data []byte
}

// recoveryName is the page about locks that survive crashes.
const recoveryName = "recovery"

// A subject is what a page is about: a lock, an election, a method against deadlock, or
// the recovery of locks.
type subject struct {
	note
	spec   algorithm.Spec
	method deadlock.Method // if spec is that of a method
	common []algorithm.Rule
}

// A group is a part of the index: subjects of one family.
type group struct {
	title, text string
	subjects    []subject
}

// Make returns all files of docs/algorithms, the index first, given the text of
// docs/results/proofs.md.
func Make(proofs string) ([]File, error) { return makeOf(handwritten, proofs) }

func makeOf(notes, proofs string) ([]File, error) {
	written, err := parseNotes(notes)
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(written)
	if err != nil {
		return nil, err
	}
	files := []File{{"README.md", []byte(index(groups))}}
	for _, g := range groups {
		for _, s := range g.subjects {
			p := &page{subject: s}
			text, err := p.make(proofs)
			if err != nil {
				return nil, fmt.Errorf("the page of %s: %w", s.name, err)
			}
			picture, err := s.draw()
			if err != nil {
				return nil, fmt.Errorf("the picture of %s: %w", s.name, err)
			}
			files = append(files, File{s.name + ".md", []byte(text)}, File{s.name + ".svg", []byte(picture)})
		}
	}
	return files, nil
}

// groupsOf finds what there are pages about, in the order of the catalog, and the note of
// each.
func groupsOf(notes []note) ([]group, error) {
	locks := group{title: "Locks", text: "At most one process is inside its critical section at a time."}
	for _, s := range catalog.Sound() {
		locks.subjects = append(locks.subjects, subject{note: note{name: s.Name}, spec: s})
	}
	var others []group // one for each other family of the catalog
	for _, s := range catalog.Every()[len(catalog.All()):] {
		f := families.Of(s)
		if k := len(others); k == 0 || others[k-1].title != f.Name {
			others = append(others, group{title: f.Name, text: sentence(f.Means)})
		}
		last := &others[len(others)-1]
		last.subjects = append(last.subjects, subject{note: note{name: s.Name}, spec: s})
	}
	composed, err := catalog.Make("central+bully", algorithm.Options{Patience: catalog.Patience("central+bully", 3)})
	if err != nil {
		return nil, err
	}
	recovery := group{title: "Locks that survive crashes", text: "A lock and an election together."}
	recovery.subjects = []subject{{note: note{name: recoveryName}, spec: composed}}
	methods, err := methodGroup()
	if err != nil {
		return nil, err
	}
	groups := slices.Concat([]group{locks}, others, []group{recovery, methods})
	for _, g := range groups {
		for i := range g.subjects {
			s := &g.subjects[i]
			at := slices.IndexFunc(notes, func(n note) bool { return n.name == s.name })
			if at < 0 {
				return nil, fmt.Errorf("notes.txt says nothing of %s: add a part == %s", s.name, s.name)
			}
			s.note = notes[at]
			notes = slices.Delete(slices.Clone(notes), at, at+1)
		}
	}
	if len(notes) > 0 {
		return nil, fmt.Errorf("notes.txt has a part == %s, which is not a sound algorithm of the catalog", notes[0].name)
	}
	return groups, nil
}

// methodGroup returns the methods against deadlock that do something, except those that
// serve only to show what goes wrong.
func methodGroup() (group, error) {
	g := group{title: "Methods against deadlock", text: "No transaction waits forever for one of several locks."}
	layout := deadlock.Spread(3, 3, 3)
	plain, err := deadlock.None().Spec(layout, "")
	if err != nil {
		return g, err
	}
	for _, m := range deadlock.Kept() {
		if m.Family == deadlock.Ignore || m.Weaker != "" && m.Family != deadlock.Detection {
			continue
		}
		spec, err := m.Spec(layout, "")
		if err != nil {
			return g, err
		}
		g.subjects = append(g.subjects, subject{note: note{name: m.Name}, spec: spec, method: m, common: plain.Rules})
	}
	return g, nil
}

// index returns the page that lists all others.
func index(groups []group) string {
	var b strings.Builder
	b.WriteString(`# The algorithms

<!-- made by 'make pages': do not edit -->

A page for every sound algorithm: its idea, its rules, a picture of a run, its costs in theory, what is proved of it, and whether it
runs live. [Notes on the algorithms](../algorithms.md) compares them, and ` + "`" + `stile-lab compare` + "`" + ` measures them side by side. N is the number of
processes, K the size of a quorum, D the diameter of a tree, and T the latency of one message. *Light* means that requests hardly
ever meet, *full* that every process asks again at once. The network is the weakest that an algorithm needs: ` + "`" + `fifo` + "`" + ` links keep the
order of messages, ` + "`" + `unordered` + "`" + ` links may not, and ` + "`" + `duplicating` + "`" + ` ones may also deliver a message twice. Rules are numbered as in the
paper, or as stile numbers them, and ` + "`" + `stile-lab replay --why` + "`" + ` names the rule that each step follows.
`)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", g.title, g.text)
		g.list(&b)
	}
	fmt.Fprintf(&b, "\n### Rules of every site\n\nMethods against deadlock share these rules; their own pages list only what they add or change.\n\n")
	methods := groups[len(groups)-1].subjects
	rules(&b, methods[0].common)
	failing(&b)
	return b.String()
}

// list writes the table of a group.
func (g group) list(b *strings.Builder) {
	switch g.subjects[0].spec.Family {
	case algorithm.Transactions:
		b.WriteString("| method | what it is |\n|---|---|\n")
		for _, s := range g.subjects {
			fmt.Fprintf(b, "| [%s](%s.md) | %s |\n", s.name, s.name, s.spec.Title)
		}
	case algorithm.MutualExclusion:
		if g.subjects[0].name == recoveryName {
			fmt.Fprintf(b, "| page | content |\n|---|---|\n| [%s](%s.md) | any of the locks combined with any of the elections |\n", recoveryName, recoveryName)
			return
		}
		b.WriteString("| algorithm | year | to enter, a process needs | messages per entry | synchronisation delay | live |\n|---|--:|---|---|---|---|\n")
		for _, s := range g.subjects {
			live := "yes"
			if catalog.NotLive(s.spec) != "" {
				live = "no"
			} else if catalog.Live()[0].Name == s.name {
				live = "yes, the default"
			}
			fmt.Fprintf(b, "| [%s](%s.md) | %d | %s | %s | %s | %s |\n", s.name, s.name, s.spec.Year, s.spec.Class, s.spec.Theory.Messages.Text, s.spec.Theory.Sync.Text, live)
		}
	default:
		b.WriteString("| algorithm | year | messages |\n|---|--:|---|\n")
		for _, s := range g.subjects {
			fmt.Fprintf(b, "| [%s](%s.md) | %d | %s |\n", s.name, s.name, s.spec.Year, s.spec.Theory.Messages.Text)
		}
	}
}

// sentence makes a sentence of a phrase.
func sentence(phrase string) string { return strings.ToUpper(phrase[:1]) + phrase[1:] + "." }

// scene reads and runs the worked example of the page.
func (n note) scene() (*scenario.Scenario, *sim.Playback, error) {
	file := n.picture + ".stile"
	text, err := scenarios.Files.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	sc, err := scenario.Parse(file, string(text))
	if err != nil {
		return nil, nil, err
	}
	spec, err := document.SpecOf(sc, nil)
	if err != nil {
		return nil, nil, err
	}
	back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
	if err == nil && len(back.Differences) > 0 {
		err = fmt.Errorf("%s: %v", file, back.Differences[0])
	}
	return sc, back, err
}

// draw draws the worked example.
func (n note) draw() (string, error) {
	sc, back, err := n.scene()
	if err != nil {
		return "", err
	}
	if n.graph {
		return sim.Graph(&back.Sites.Run, back.Sites.Ledger, sc.Title), nil
	}
	return back.Captioned().SVG(trace.Options{}), nil
}
