package calls

import (
	"context"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/lab/internal/document"
	"github.com/stile-lock/stile/lab/internal/glossary"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/scenarios"
)

// A Shelf is a section of the gallery.
type Shelf struct {
	Title string `json:"title"`
	Items []Item `json:"items"`
}

// An Item is one scenario, or graph of resources, in the gallery.
type Item struct {
	File     string `json:"file"`
	Title    string `json:"title"`
	Sentence string `json:"sentence"` // what the title does not say
	Text     string `json:"text"`
	Words    string `json:"words"` // terms of the glossary that it is about, one on each line

	Outline *document.Scene `json:"outline,omitempty"` // shape, places and links, for a thumbnail

	topic string
}

// bank is what every visitor sees first: two tellers inside at the same time.
const bank = `# A wrong lock lets two tellers enter at once: both read the same balance, and the 10,000 that one of them deposits are lost.
title The bank that loses 10,000
algorithm bakery-naive
processes 3
schedule steps
deposit P1 10000
deposit P2 500

say "The account holds 0. Teller 1 wants to deposit 10,000 and teller 2 wants to deposit 500: it should end with 10,500."
P1 asks                       # teller 1 wants to deposit 10,000
P2 asks                       # teller 2 wants to deposit 500
deliver 1 -> 2 READ
deliver 2 -> 1 READ
deliver 1 -> 2 VALUE
deliver 2 -> 1 VALUE          # P1 has read 0, but not P3's number yet
deliver 2 -> 3 READ
deliver 3 -> 2 VALUE
expect P2 number 1            # P2, the higher id, writes 1,
deliver 2 -> 1 READ           # sees number[1] = 0
deliver 1 -> 2 VALUE
deliver 2 -> 3 READ
deliver 3 -> 2 VALUE
expect P2 inside              # and enters
say "Balance 0. Teller 2 is inside and reads 0. It will write 0 + 500."
deliver 1 -> 3 READ
deliver 3 -> 1 VALUE
expect P1 number 1            # only then P1 writes its 1,
deliver 1 -> 2 READ           # and (1,1) is before (1,2)
deliver 2 -> 1 VALUE
deliver 1 -> 3 READ
deliver 3 -> 1 VALUE
expect P1 inside
say "Balance 0. Teller 1 is inside too, and reads the same 0. It will write 0 + 10,000."
P1 leaves
say "Balance 10,000. Teller 1 has written it and left."
P2 leaves
say "Balance 500. Teller 2 has written 0 + 500 over the 10,000: they are lost."

expect entries 2 1
expect violation mutual-exclusion
`

// A course is a shelf of examples for one purpose, in the order in which to watch them.
type course struct {
	title string
	files []string
}

// first is for people who see the lab for the first time.
var first = course{"First steps", []string{"central-queue", "token-ring", "ricart-agrawala-a", "raymond-a", "bully-5-of-8", "none-two-sites"}}

// lectures follow the usual lectures on distributed algorithms.
var lectures = [...]course{
	{"Lecture: clocks and order", []string{"lamport-tells", "ricart-agrawala-tells", "ricart-agrawala-clocks", "ricart-agrawala-clock-41", "bakery-order"}},
	{"Lecture: mutual exclusion", []string{"central-queue", "lamport-example", "ricart-agrawala-example", "maekawa-three", "token-ring", "suzuki-kasami-queue", "raymond-a"}},
	{"Lecture: faults", []string{"central-crash", "ricart-agrawala-crash", "suzuki-kasami-lost-token", "central+bully-coordinator", "dijkstra-stabilises"}},
	{"Lecture: elections", []string{"bully-5-of-8", "bully-comes-back", "chang-roberts-5-of-8", "ring-election-5-of-8"}},
	{"Lecture: deadlocks", []string{"none-two-sites", "graph-cycle", "graph-no-cycle", "detect-central-two-sites-batch", "wait-die-once", "wound-wait-once"}},
}

// Gallery returns all worked examples: first steps, then all by topic, with what does not work
// last, and then some of them again by lecture.
func Gallery() []Shelf {
	shelves := []Shelf{{first.title, []Item{item("bank.stile", bank)}}}
	topics := map[string][]Item{}
	files, _ := scenarios.Files.ReadDir(".")
	byName := map[string]Item{}
	for _, f := range files {
		data, err := scenarios.Files.ReadFile(f.Name())
		if err != nil {
			continue
		}
		x := item(f.Name(), string(data))
		byName[strings.TrimSuffix(f.Name(), ".stile")] = x
		topics[x.topic] = append(topics[x.topic], x)
	}
	pick := func(c course) []Item {
		var items []Item
		for _, name := range c.files {
			if x, ok := byName[name]; ok {
				items = append(items, x)
			}
		}
		return items
	}
	shelves[0].Items = append(shelves[0].Items, pick(first)...)
	for _, topic := range topicOrder() {
		if items := topics[topic]; len(items) > 0 {
			shelves = append(shelves, Shelf{topic, items})
		}
	}
	for _, c := range lectures {
		shelves = append(shelves, Shelf{c.title, pick(c)})
	}
	entries := glossary.Entries()
	for _, s := range shelves {
		for i := range s.Items {
			s.Items[i].Words = strings.Join(glossary.Terms(entries, s.Items[i].Text), "\n")
		}
	}
	return shelves
}

// museum is the shelf of algorithms that do not work.
const museum = "The museum of wrong algorithms"

// classes are the topics of locks, by what a process needs in order to enter.
var classes = [...]struct {
	class algorithm.Class
	topic string
}{
	{algorithm.Central, "Locks: a coordinator"},
	{algorithm.Permission, "Locks: permission from all"},
	{algorithm.Quorum, "Locks: votes"},
	{algorithm.Token, "Locks: a token"},
}

// recovering is the topic of locks that survive crashes.
const recovering = "Locks that survive crashes"

// topicOrder lists all topics.
func topicOrder() []string {
	var all []string
	for _, c := range classes {
		all = append(all, c.topic)
	}
	all = append(all, recovering)
	for _, f := range families.All() {
		if !slices.Contains(all, f.Name) {
			all = append(all, f.Name)
		}
	}
	return append(all, museum)
}

// topicOf returns the topic of a sound algorithm.
func topicOf(spec algorithm.Spec) string {
	if strings.Contains(spec.Name, "+") {
		return recovering
	}
	for _, c := range classes {
		if spec.Family == algorithm.MutualExclusion && spec.Class == c.class {
			return c.topic
		}
	}
	return families.Of(spec).Name
}

// about returns the title of an example, its topic and its outline.
func about(name, text string) (title, topic string, outline *document.Scene) {
	deadlocks := families.Of(algorithm.Spec{Family: algorithm.Transactions}).Name
	if g, err := scenario.ParseGraph(name, text); err == nil {
		return g.Title, deadlocks, nil
	}
	sc, err := scenario.Parse(name, text)
	if err != nil {
		return "", deadlocks, nil
	}
	spec, err := catalog.Make(sc.Algorithm, sc.Options)
	if err == nil || sc.Transacts() {
		if x := document.Outline(sc, spec); len(x.Places) <= mostOutlined {
			outline = &x
		}
	}
	switch {
	case sc.Transacts():
		return sc.Title, deadlocks, outline
	case err == nil && !spec.Sound():
		return sc.Title, museum, outline
	}
	return sc.Title, topicOf(spec), outline
}

// mostOutlined is the maximum number of processes in a thumbnail.
const mostOutlined = 24

// item describes an example by its title and its first comment.
func item(name, text string) Item {
	x := Item{File: name, Text: text}
	x.Title, x.topic, x.Outline = about(name, text)
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			words = append(words, strings.TrimSpace(strings.TrimLeft(line, "#")))
		} else if len(words) > 0 {
			break
		}
	}
	x.Sentence = enough(strings.Join(words, " "))
	return x
}

// told is the length, in bytes, from which the first sentences of a comment say what there
// is to see: the first one alone may only give the setting.
const told = 90

// enough returns the first sentences of a comment that say what there is to see.
func enough(comment string) string {
	for at := 0; ; {
		end := strings.Index(comment[at:], ". ")
		if end < 0 {
			return comment
		}
		if at += end + 2; at > told {
			return comment[:at-1]
		}
	}
}

func (c *Calls) gallery(_ context.Context, body []byte, say func(v any) error) error {
	if err := read(body, &struct{}{}); err != nil {
		return err
	}
	return say(map[string]any{"groups": Gallery()})
}

// A Choice is an algorithm available to a new scenario.
type Choice struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Family  string   `json:"family"`
	Class   string   `json:"class"`
	Wrong   string   `json:"wrong"`
	Weaker  string   `json:"weaker"`
	Paper   string   `json:"paper"`
	Network string   `json:"network"`
	Least   int      `json:"least"` // minimum number of processes, and maximum on a page
	Most    int      `json:"most"`
	Options []string `json:"options"`         // other options: topology, k, ...
	Lock    string   `json:"lock,omitempty"`  // for a lock that survives crashes: its underlying lock,
	After   string   `json:"after,omitempty"` // and its recovery after a crash

	Calls  string              `json:"calls,omitempty"`  // as in document.Algorithm
	Values map[string][]string `json:"values,omitempty"` // values of options that have named values
}

func (c *Calls) algorithms(_ context.Context, body []byte, say func(v any) error) error {
	if err := read(body, &struct{}{}); err != nil {
		return err
	}
	list := []Choice{}
	for _, s := range c.own {
		list = append(list, choice(s))
	}
	for _, s := range catalog.Every() {
		if named(c.own, s.Name) < 0 {
			list = append(list, choice(s, catalog.Knows(s.Name)...))
		}
		if s.Family == algorithm.MutualExclusion && s.Sound() {
			list = append(list, recoveries(s.Name)...)
		}
	}
	for _, m := range deadlock.Methods() {
		x := Choice{Name: m.Name, Title: m.Title, Family: algorithm.Transactions.String(), Class: string(m.Family), Wrong: m.Wrong, Weaker: m.Weaker, Paper: m.Paper, Network: algorithm.FIFO.String(), Least: 1, Most: 50, Options: []string{}}
		if len(m.Modes) > 0 {
			x.offer("mode", m.Modes)
		}
		list = append(list, x)
	}
	return say(list)
}

// recoveries are the ways in which a lock can survive crashes.
func recoveries(lock string) []Choice {
	var list []Choice
	for _, after := range catalog.Recoveries() {
		name := lock + "+" + after
		s, err := catalog.Make(name, algorithm.Options{})
		if err != nil {
			continue
		}
		x := choice(s, catalog.Knows(name)...)
		if s.Accepts(x.Least) != nil {
			continue // it has no token that could get lost
		}
		x.Lock, x.After = lock, after
		list = append(list, x)
	}
	return list
}

func choice(s algorithm.Spec, options ...string) Choice {
	x := Choice{Name: s.Name, Title: s.Title, Family: s.Family.String(), Class: s.Class.String(), Wrong: s.Wrong, Weaker: s.Weaker, Paper: s.Paper, Network: s.Network.String(), Least: 1, Most: 100, Options: []string{}, Calls: families.Of(s).Calls}
	for _, o := range options {
		var values []string
		if o == "topology" {
			values = catalog.Topologies(s.Name)
		}
		x.offer(o, values)
	}
	for x.Least < 10 && s.Accepts(x.Least) != nil {
		x.Least++
	}
	return x
}

// offer adds an option, and its values if they have names.
func (x *Choice) offer(option string, values []string) {
	x.Options = append(x.Options, option)
	if len(values) == 0 {
		return
	}
	if x.Values == nil {
		x.Values = map[string][]string{}
	}
	x.Values[option] = values
}
