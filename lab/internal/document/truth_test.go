package document

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// A witness knows what the events of a document tell, and nothing else: what is
// said of who waits is held against it.
type witness struct {
	d       *Document
	spec    algorithm.Spec
	events  int
	dead    []bool
	still   []bool              // they are paused
	does    []map[string]string // of each lane, by section
	has     []map[string]bool   // transactions: locks
	flying  map[int]Event       // what was sent, by number
	spoke   map[[2]int]int      // when somebody last sent what is no answer, by link
	heard   map[[2]int]int      // when an answer last came, by link
	because map[string]int      // when it was last said that a process makes another one wait
	asked   map[string]int      // when each last asked, by section
	gave    map[string]int      // when one last answered another, by section and link
	waits   []string            // what the document says
	deltas  []Delta             // which come next
}

func newWitness(d *Document, spec algorithm.Spec) *witness {
	n := len(d.Names)
	w := &witness{
		d: d, spec: spec, dead: make([]bool, n), still: make([]bool, n), does: make([]map[string]string, n), has: make([]map[string]bool, n),
		because: map[string]int{}, asked: map[string]int{}, gave: map[string]int{}, flying: map[int]Event{}, spoke: map[[2]int]int{}, heard: map[[2]int]int{}, waits: slices.Clone(d.Keys[0].Waits), deltas: d.Deltas,
	}
	for i := range n {
		w.does[i], w.has[i] = map[string]string{}, map[string]bool{}
	}
	return w
}

// untrue returns what a document says wrongly of who waits, wherever a page stops.
func untrue(d *Document, spec algorithm.Spec) []string {
	w := newWitness(d, spec)
	var wrong []string
	for cursor := 0; ; cursor++ {
		w.read(cursor)
		if cursor == len(d.Events) || !d.Events[cursor].Part {
			for i := range d.Names {
				for _, why := range w.doubts(i) {
					wrong = append(wrong, fmt.Sprintf("at %d: %s %s: %s", cursor, d.Names[i], w.waits[i], why))
				}
			}
		}
		if cursor == len(d.Events) {
			return wrong
		}
		w.see(&d.Events[cursor])
	}
}

// read takes over what the document says at a cursor.
func (w *witness) read(cursor int) {
	for len(w.deltas) > 0 && w.deltas[0].Event <= cursor {
		if x := w.deltas[0]; x.Wait != nil {
			w.waits[x.Proc] = *x.Wait
		}
		w.deltas = w.deltas[1:]
	}
}

// see notes an event.
func (w *witness) see(e *Event) {
	w.events++
	for _, y := range e.Why {
		w.because[y[1]] = w.events
	}
	switch e.Kind {
	case "send", "duplicate":
		if e.Name == w.spec.Shape.Answer {
			w.gave[fmt.Sprint(e.Section, e.Proc, e.Peer)] = w.events
		}
		if w.flying[e.Msg] = *e; e.Name != w.spec.Shape.Answer {
			w.spoke[[2]int{e.Proc, e.Peer}] = w.events
		}
	case "drop":
		delete(w.flying, e.Msg)
	case "receive":
		delete(w.flying, e.Msg)
		if e.Name == w.spec.Shape.Answer {
			w.heard[[2]int{e.Peer, e.Proc}] = w.events
		}
	case "ask":
		w.asked[fmt.Sprint(e.Section, e.Proc)] = w.events
		w.does[e.Proc][e.Section] = Waiting
	case "enter":
		w.does[e.Proc][e.Section] = Inside
		for _, lock := range strings.Fields(e.Name) {
			w.has[e.Proc][lock] = true
		}
	case "lead":
		if w.d.Kind == "election" {
			delete(w.does[e.Proc], e.Section)
		}
	case "exit", "deny":
		delete(w.does[e.Proc], e.Section)
		clear(w.has[e.Proc])
	case "crash":
		w.dead[e.Proc], w.still[e.Proc] = true, false
		clear(w.does[e.Proc])
		clear(w.has[e.Proc])
	case "restart":
		w.dead[e.Proc] = false
	case "pause", "resume":
		w.still[e.Proc] = e.Kind == "pause"
	}
}

// lane reads the name of a lane.
func (w *witness) lane(name string) int { return slices.Index(w.d.Names, name) }

// in reports whether a lane is inside a section.
func (w *witness) in(lane int, section string) bool {
	return lane >= 0 && !w.dead[lane] && w.does[lane][section] == Inside
}

// sent reports whether such a message is under way; a name that is empty, and a
// lane below 0, stand for any.
func (w *witness) sent(name string, from, to int, section string) bool {
	for _, m := range w.flying {
		if (name == "" || m.Name == name) && (from < 0 || m.Proc == from) && (to < 0 || m.Peer == to) && m.Section == section {
			return true
		}
	}
	return false
}

// doubts says what is wrong with what is said of a lane.
func (w *witness) doubts(i int) []string {
	said := w.waits[i]
	waits := !w.dead[i] && slices.Contains(slices.Collect(maps.Values(w.does[i])), Waiting)
	switch {
	case said == "" && waits:
		return []string{"it waits, and nothing says why"}
	case said == "":
		return nil
	case w.dead[i] || !waits && w.d.Kind != "election":
		return []string{"it does not wait"}
	case strings.HasPrefix(said, "is paused") != w.still[i]:
		return []string{"the sentence does not say correctly whether it is paused"}
	}
	var wrong []string
	section := ""
	var names []string // parts that say what processes named there are doing
	for part := range strings.SplitSeq(said, "; ") {
		if at, ok := w.because[part]; ok {
			wrong = append(wrong, w.decided(i, part, section, at)...)
			continue
		}
		if strings.Contains(part, ", because ") && w.d.Scene.Shape != string(algorithm.AtSites) {
			wrong = append(wrong, "no process has decided so: "+part)
		}
		names = append(names, part)
		if w.d.Kind == KindSections {
			if name, rest, ok := strings.Cut(part, ": "); ok && slices.ContainsFunc(w.d.Scene.Groups, func(g Group) bool { return g.Name == name }) {
				if section, part = name, rest; w.does[i][section] != Waiting {
					wrong = append(wrong, "it does not wait for "+section)
				}
			}
		}
		wrong = append(wrong, w.stays(part, section)...)
		wrong = append(wrong, w.travels(i, part, section)...)
		wrong = append(wrong, w.answers(i, part)...)
		wrong = append(wrong, w.owns(part, said)...)
	}
	return append(wrong, w.buries(strings.Join(names, "; "))...)
}

// decided checks that a decision by which a process waits still stands.
func (w *witness) decided(i int, part, section string, at int) []string {
	by := w.lane(process.FindString(part))
	switch {
	case at < w.asked[fmt.Sprint(section, i)] || !strings.Contains(part, w.d.Names[i]):
		return []string{"not about this request: " + part}
	case w.gave[fmt.Sprint(section, by, i)] > at:
		return []string{"it has answered since: " + part}
	case w.dead[by]:
		return []string{w.d.Names[by] + " is dead"}
	case strings.HasSuffix(part, "because it is inside") && !w.in(by, section):
		return []string{w.d.Names[by] + " is not inside"}
	}
	return nil
}

var (
	insideOf = regexp.MustCompile(`(P\d+)(?:, which)? is inside`)
	goesFrom = regexp.MustCompile(`(?:([A-Z]+)|token, which) is in flight from ((?:P|site )\d+)(?:, which [a-z ]+,)? to ((?:P|site )\d+)`)
	goesTo   = regexp.MustCompile(`([A-Z]+) is in flight(?: from there)?$`)
	goesIn   = regexp.MustCompile(`the token is in flight between (P\d+) and (P\d+)`)
	count    = regexp.MustCompile(`(one|\d+) messages? (?:is|are) in flight`)
	process  = regexp.MustCompile(`P\d+`)
	waitsFor = regexp.MustCompile(`waits for ([A-Z]+) from (.*)`)
	owner    = regexp.MustCompile(`waits for (L\d+), (held|released) by (P\d+)`)
)

// stays checks against the events which processes are said to be inside.
func (w *witness) stays(part, section string) []string {
	var wrong []string
	for _, m := range insideOf.FindAllStringSubmatch(part, -1) {
		if !w.in(w.lane(m[1]), section) {
			wrong = append(wrong, m[1]+" is not inside")
		}
	}
	if strings.Contains(part, "no process is inside") {
		for q := range w.does {
			if w.in(q, section) {
				wrong = append(wrong, w.d.Names[q]+" is inside")
			}
		}
	}
	return wrong
}

// travels checks against the events which messages are said to be in flight. What cannot be
// checked must not be said.
func (w *witness) travels(i int, part, section string) []string {
	carrier, ok := w.spec.Shape.Carrier, true
	switch from, to, in, n := goesFrom.FindStringSubmatch(part), goesTo.FindStringSubmatch(part), goesIn.FindStringSubmatch(part), count.FindStringSubmatch(part); {
	case from != nil:
		if from[1] == "" {
			from[1] = carrier
		}
		ok = w.sent(from[1], w.lane(from[2]), w.lane(from[3]), section)
	case to != nil:
		ok = w.sent(to[1], -1, i, section)
	case in != nil:
		a, b := w.lane(in[1]), w.lane(in[2])
		ok = w.sent(carrier, a, b, section) || w.sent(carrier, b, a, section)
	case strings.Contains(part, "no message about it is in flight"):
		for _, m := range w.flying {
			ok = ok && (m.Name == "RELEASE" || !slices.Contains(m.Fields, [2]string{"tx", strconv.Itoa(i - len(w.d.Scene.Groups) + 1)}))
		}
	case strings.Contains(part, "no message is in flight"):
		ok = len(w.flying) == 0
	case n != nil:
		want, err := strconv.Atoi(n[1])
		if err != nil {
			want = 1
		}
		ok = len(w.flying) == want
	default:
		ok = !strings.Contains(part, "in flight")
	}
	if !ok {
		return []string{"not by the events: " + part}
	}
	return nil
}

// answers: no process waits for one whose answer came after all that it was sent. Where
// flags go round, no process is asked for one.
func (w *witness) answers(i int, part string) []string {
	m := waitsFor.FindStringSubmatch(part)
	if m == nil || m[1] != w.spec.Shape.Answer || w.spec.Shape.Picture == algorithm.Flags || w.d.Kind == KindSections {
		return nil
	}
	var wrong []string
	whom, _, _ := strings.Cut(m[2], ", which has let") // who went first is not asked
	for _, name := range process.FindAllString(whom, -1) {
		q := w.lane(name)
		if at := w.heard[[2]int{q, i}]; at > w.spoke[[2]int{i, q}] {
			wrong = append(wrong, name+" has answered")
		}
	}
	return wrong
}

// owns checks against the events which process is said to hold a lock.
func (w *witness) owns(part, said string) []string {
	if m := owner.FindStringSubmatch(part); m != nil {
		if w.has[w.lane(m[3])][m[1]] == (m[2] == "released") {
			return []string{"not by the events: " + m[0]}
		}
	}
	if lock, why, ok := strings.Cut(strings.TrimPrefix(part, "waits for "), ", which is free"); ok {
		if w.d.Scene.Shape == string(algorithm.AtSites) && why == "" && !strings.Contains(said, "no message about it is in flight") {
			return []string{"nothing says why it does not get " + lock}
		}
		for q := range w.has {
			if w.has[q][lock] {
				return []string{w.d.Names[q] + " has it"}
			}
		}
	}
	return nil
}

// buries checks that the sentence says of every dead process it names that it has crashed.
func (w *witness) buries(said string) []string {
	var wrong []string
	for _, name := range process.FindAllString(said, -1) {
		if w.dead[w.lane(name)] && !regexp.MustCompile(name+`(, which)? has crashed`).MatchString(said) {
			wrong = append(wrong, name+" is dead")
		}
	}
	return wrong
}
