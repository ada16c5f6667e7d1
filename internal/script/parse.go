package script

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

const defaultSeed = 1

// MaxSize is the maximum size of a scenario in bytes. A reader of a file need read only
// one byte beyond it.
const MaxSize = 10 << 20

// A source is a file that is read line by line.
type source struct {
	reader
	lines []line
	said  map[string]int // line of each setting
}

// A parser reads a scenario.
type parser struct {
	*source
	s *Scenario
}

// A line is one line of the file, without its comment.
type line struct {
	text  string
	words []word
}

// Parse parses a scenario from the text of a file. The name of the file is for errors,
// which are of type *Error. A graph of resources is refused: see IsGraph.
func Parse(file, text string) (*Scenario, error) {
	src, err := open(file, text)
	if err != nil {
		return nil, err
	}
	p := &parser{src, &Scenario{File: file, Seed: defaultSeed, Latency: Always(T), Hold: Always(T)}}
	if err := p.look(); err != nil {
		return nil, err
	}
	if err := p.each(p.statement); err != nil {
		return nil, err
	}
	if p.s.Processes == 0 {
		return nil, p.lacks("the number of processes, such as processes 3")
	}
	p.finish()
	p.s.Said = p.said
	if err := p.s.Check(); err != nil {
		return nil, &Error{file, p.blame(), 1, err.Error()}
	}
	return p.s, nil
}

// open splits the text of a file into lines.
func open(file, text string) (*source, error) {
	if len(text) > MaxSize {
		return nil, &Error{file, 1, 1, fmt.Sprintf("the scenario is too large: want at most %d bytes", MaxSize)}
	}
	p := &source{reader: reader{file: file}, said: map[string]int{}}
	for text := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		text = strings.TrimRight(stripComment(text), blanks)
		p.lines = append(p.lines, line{text, split(text)})
	}
	return p, nil
}

// begin begins to read the line with index i.
func (p *source) begin(i int) {
	p.line, p.text, p.words = i+1, p.lines[i].text, p.lines[i].words
}

// each reads the lines that have words, one after the other.
func (p *source) each(read func()) error {
	for i := range p.lines {
		if p.begin(i); len(p.words) > 0 {
			read()
		}
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

// once refuses a setting that was said before.
func (p *source) once(name word) {
	if line := p.said[name.text]; line > 0 {
		p.failAt(name, fmt.Sprintf("%s is already on line %d: remove one of the two", name.text, line))
	}
	p.said[name.text] = p.line
}

// title reads the rest of a line that began with name.
func (p *source) title(name word) string {
	p.words = nil
	return trim(p.text[name.at+len(name.text):])
}

// lacks is the error for a file without a line that it needs.
func (p *source) lacks(what string) error {
	return &Error{p.file, len(p.lines), 1, "the file has no line for " + what}
}

// look finds what the meaning of other lines depends on, wherever it is: the number of
// processes, and the kind of schedule.
func (p *parser) look() error {
	if err := p.each(func() {
		switch w := p.here(); {
		case p.has("processes") && p.s.Processes == 0:
			p.s.Processes = p.number(1, MaxProcesses)
		case p.has("schedule"):
			p.s.Steps = p.has("steps")
		case p.has("resources"):
			p.failAt(w, "this is a resource graph, which has no run: it can be examined for deadlock, but not simulated or checked")
		}
	}); err != nil {
		return err
	}
	p.n = p.s.Processes
	if p.n == 0 {
		p.n = MaxProcesses // other errors are reported first
	}
	if err := p.lookForSites(); err != nil {
		return err
	}
	if err := p.lookForSections(); err != nil {
		return err
	}
	if p.s.Steps {
		p.s.Latency, p.s.Hold, p.s.Backoff = Dist{}, Dist{}, Dist{}
	}
	return nil
}

// settings are the words that a line of the head begins with.
var settings = [...]string{
	"title", "algorithm", "topology", "sets", "inform", "k", "coordinator", "experiment", "patience", "mode", "processes", "resources", "site", "units", "section", "holder", "network", "deposit",
	"latency", "hold", "backoff", "until", "seed", "schedule", "begin", "set",
}

// statement reads one line.
func (p *parser) statement() {
	first := p.words[0]
	switch {
	case slices.Contains(settings[:], first.text) && !p.siteActs():
		p.setting()
	case first.text == "expect":
		p.expectation()
	case first.text == "say" && p.s.Steps:
		p.caption(Moment{Kind: AfterActions, Count: len(p.s.Actions)})
	case first.text == "say":
		p.caption(Moment{Kind: AtStart})
	case first.text == "when":
		p.captionWhen()
	case first.text == "at" && p.s.Steps:
		p.failAt(first, `found "at": in steps, actions happen in order and have no times; remove the time, or the line schedule steps`)
	case first.text == "at":
		p.take()
		if at := p.time(); p.peek() == "say" {
			p.caption(Moment{Kind: AtTime, At: at})
		} else {
			p.action(at)
		}
	case p.s.Steps && (isAction(first.text) || p.siteActs()):
		p.action(0)
	case isAction(first.text) || p.siteActs():
		p.failAt(first, fmt.Sprintf("found %q: an action begins with its time, such as at 3 %s; for actions in order, without times, add the line schedule steps", first.text, strings.TrimLeft(p.text, blanks)))
	default:
		words := append(slices.Clone(settings[:]), "at", "expect", "say", "when")
		if p.s.Steps {
			for _, o := range orders {
				words = append(words, o.word)
			}
		}
		p.fail(first, "a setting (%s), an action, say or expect%s", strings.Join(settings[:], ", "), didYouMean(first.text, words...))
	}
}

// setting reads one line of the head.
func (p *parser) setting() {
	name := p.take()
	if p.fits(name); p.err != nil {
		return
	}
	if name.text == "latency" && !p.s.Steps && slices.ContainsFunc(p.words, func(w word) bool { return w.text == "->" }) {
		from, to := p.link()
		p.s.Links = append(p.s.Links, Link{from, to, p.latency()})
		p.end()
		return
	}
	if name.text == "site" || name.text == "section" || name.text == "units" {
		return // already read by look
	}
	if name.text == "deposit" {
		p.deposit()
		return
	}
	if name.text == "begin" {
		p.beginning()
		return
	}
	if name.text != "set" {
		p.once(name)
	}
	s := p.s
	switch name.text {
	case "title":
		s.Title = p.title(name)
	case "algorithm":
		s.Algorithm = p.name("the name of an algorithm, such as raymond")
	case "topology":
		s.Topology = p.dense("a topology, such as grid, star or 1-2,1-3")
	case "sets":
		s.Sets = p.dense("sets such as 1:1,2;2:1,2,3;3:1,3")
	case "inform":
		s.Inform = p.dense("sets such as 1:1;2:2;3:3")
	case "k":
		s.K = p.number(1, 1<<30)
	case "coordinator":
		s.Coordinator = int(p.process()) + 1
	case "experiment":
		s.Experiment = true
	case "patience":
		s.Patience = p.number(1, 1<<20)
	case "mode":
		s.Mode = p.name("a mode of the method, such as mode batch")
	case "processes":
		p.take() // already read by look
	case "holder":
		s.Holder = p.process()
		s.Busy = p.has("busy")
	case "network":
		p.network()
	default:
		p.timing(name)
	}
	p.end()
}

// timing reads the settings about time and order.
func (p *parser) timing(name word) {
	s := p.s
	if s.Steps && slices.Contains([]string{"latency", "hold", "backoff", "until"}, name.text) {
		p.failAt(name, fmt.Sprintf("found %q: steps take no time; remove this line, or the line schedule steps", name.text))
	}
	switch name.text {
	case "latency":
		s.Latency = p.latency()
	case "hold":
		if s.Manual = p.has("manual"); s.Manual {
			s.Hold = Dist{}
		} else {
			s.Hold = p.dist()
		}
		if s.Manual && s.Transacts() {
			p.failAt(name, "hold manual: transactions do not leave by a line; give the time that they stay after each lock")
		}
	case "backoff":
		s.Backoff = p.dist()
	case "until":
		w := p.here()
		if s.Until = p.time(); p.err == nil && s.Until == 0 {
			p.failAt(w, "until 0: nothing would happen; give a later time, or remove the line to run to the end")
		}
	case "seed":
		w := p.take()
		x, err := strconv.ParseUint(w.text, 10, 64)
		if err != nil {
			p.fail(w, "a whole number")
		}
		s.Seed = x
	case "schedule":
		if w := p.take(); w.text != "timed" && w.text != "steps" {
			p.fail(w, "timed or steps%s", didYouMean(w.text, "timed", "steps"))
		}
	case "set":
		proc := p.process()
		section := p.within(proc)
		field := p.name("a field and its value, such as clock 41")
		s.Set = append(s.Set, Setting{proc, section, field, p.rest("the value of " + field), p.line})
	}
}

func (p *parser) network() {
	w := p.take()
	n, err := algorithm.ParseNetwork(w.text)
	if err != nil {
		p.fail(w, "fifo, unordered, duplicating or lossy%s", didYouMean(w.text, "fifo", "unordered", "duplicating", "lossy"))
	}
	p.s.Network = n
}

// name reads one word.
func (p *parser) name(what string) string {
	w := p.take()
	if w.text == "" {
		p.fail(w, "%s", what)
	}
	return w.text
}

// dense reads the rest of the line and removes the blanks.
func (p *parser) dense(what string) string {
	return strings.ReplaceAll(p.rest(what), " ", "")
}

// finish puts captions and expectations in their canonical form: captions tied to a place
// last and expectations tied to one first, whose place behind the last action is the end.
func (p *parser) finish() {
	s := p.s
	for i := range s.Expect {
		if w := &s.Expect[i].When; w.Kind == AfterActions && w.Count == len(s.Actions) {
			*w = Moment{}
		}
	}
	sort.SliceStable(s.Captions, func(i, j int) bool { return s.Captions[i].When.place() < s.Captions[j].When.place() })
	sort.SliceStable(s.Expect, func(i, j int) bool { return place(s.Expect[i]) < place(s.Expect[j]) })
}

func place(e Expectation) int {
	if e.When.Kind == AfterActions {
		return 0
	}
	return 1
}

// blame returns the line at which an error in the whole is reported.
func (p *parser) blame() int {
	if p.s.Algorithm == "" {
		return p.said["processes"]
	}
	return max(1, p.said["until"])
}
