package main

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/bank"
)

// An sceneOutcome is what programs are told.
type sceneOutcome struct {
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

func answer(s bank.Scene, r *bank.Result) sceneOutcome {
	return sceneOutcome{
		Scene: s.Name, Lock: r.Lock, Nodes: r.Machines, Each: r.Deposits, Seed: r.Seed, Taken: r.Entries,
		Counted: r.Balance, Lost: r.Lost, Doubled: r.Doubles(), Messages: r.Messages, Stopped: r.Stopped,
	}
}

// sceneRows is how many rows of a diagram are shown.
const sceneRows = 40

// sceneShow tells a scene, and how it went with other locks, if it was played with
// some.
func sceneShow(p *Page, s bank.Scene, c bank.Config, r *bank.Result, others []*bank.Result) {
	p.Line("%s, seed %d", sceneTitle(s, c.Lock), c.Seed)
	p.Gap()
	times := ""
	if c.Deposits > 1 {
		times = fmt.Sprintf(", %s times", words.Grouped(c.Deposits))
	}
	p.Text(0, fmt.Sprintf("%s. Each %s%s.", words.Plural(c.Machines, s.Who), s.Does, times))
	p.Gap()
	if bank.Fits(c.Machines, c.Deposits) {
		for _, row := range r.Diagram(0, sceneRows) {
			p.Line("%s", row)
		}
	} else {
		p.Line("(too much for a diagram as text: --svg FILE draws it)")
	}
	p.Gap()
	p.Text(0, sceneEnd(s, c, r))
	p.Line("%s taken, %s of the lock", words.Plural(r.Entries, s.Thing), words.Plural(r.Messages, "message"))
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
	p.Text(0, fmt.Sprintf("With the %s that are sound and take %s: right with %d of them, no %s twice.",
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
