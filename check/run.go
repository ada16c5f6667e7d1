package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// The properties that can be checked.
const (
	MutualExclusion = "mutual-exclusion" // never two inside
	Deadlock        = "deadlock"         // somebody waits and nothing can happen
	Starvation      = "starvation"       // a fair run in which somebody waits for ever
	Order           = "order"            // ME3, causality through the algorithm's messages
	OrderOpen       = "order-open"       // ME3, applications talk too
	Bypass          = "bypass"           // how many entries of others a waiting process sees
	Token           = "token"            // never two tokens
	Fence           = "fence"            // the entry count rises by exactly one
	Channels        = "channels"         // messages do not pile up on a link without bound
	Start           = "start"            // every start of a view is legitimate
	Alibi           = "alibi"            // who is given an alibi is not inside
	Convergence     = "convergence"      // it comes right from every state
)

// Properties lists all properties, in the order of a report.
func Properties() []string {
	return []string{MutualExclusion, Deadlock, Starvation, Order, OrderOpen, Bypass, Token, Fence, Channels, Start, Alibi, Convergence}
}

// A Verdict is what a check comes to.
type Verdict string

// The verdicts, from best to worst.
const (
	Holds        Verdict = "holds"         // proved for this number of processes, without a bound on requests
	HoldsBounded Verdict = "holds-bounded" // proved up to the bound on requests
	NotChecked   Verdict = "not-checked"   // the note says why
	Unfinished   Verdict = "unfinished"    // ended early; nothing bad was found so far
	Violated     Verdict = "violated"      // the trace shows how
)

func (v Verdict) rank() int {
	return slices.Index([]Verdict{Holds, HoldsBounded, NotChecked, Unfinished, Violated}, v)
}

// Limits end a check that would take too much.
type Limits = explore.Limits

// Progress is how far a pass of a check is.
type Progress = explore.Progress

// Broken is a set of properties, as Limits.Stop has it.
type Broken = explore.Broken

// A Config says what to check.
type Config struct {
	Spec       core.Spec
	Nodes      int
	Requests   int // per process; 0 means without bound
	Network    core.Network
	Requesters []core.ID
	Starts     []core.View  // nil means one: process 1 has the lock and is not inside
	Properties []string     // nil means all that the algorithm claims
	Options    core.Options // that Spec was made with, for counterexamples
	Limits

	// Found is told of each property that is violated, with its
	// counterexample, as soon as that is known; the check goes on when it
	// returns. It may be nil.
	Found func(Property)

	bounded   string // why a bound on requests was put where none was asked for
	byDefault bool   // nobody has chosen the properties
}

// A Property is one line of a report.
type Property struct {
	Name    string   `json:"name"`
	Verdict Verdict  `json:"verdict"`
	Note    string   `json:"note"`
	Trace   []string `json:"trace"` // the steps of the counterexample

	// Counterexample is the same as a scenario, if there is one. A lasso is
	// shown with its loop once; Loop is how many of its steps come before it.
	Counterexample *scenario.Scenario `json:"-"`
	Loop           int                `json:"-"`
	spec           core.Spec
}

// A Bound is how often each process may ask; 0 means without bound, and is
// "unbounded" in JSON.
type Bound int

// MarshalJSON implements json.Marshaler.
func (b Bound) MarshalJSON() ([]byte, error) {
	if b == 0 {
		return []byte(`"unbounded"`), nil
	}
	return strconv.AppendInt(nil, int64(b), 10), nil
}

// A Report is what a check found. States, transitions and depth are those of
// the first pass: the one without monitors, if it was needed.
type Report struct {
	Algorithm   string     `json:"algorithm"`
	Nodes       int        `json:"nodes"`
	Requests    Bound      `json:"requests"`
	Network     string     `json:"network"`
	Verdict     Verdict    `json:"verdict"`
	States      int64      `json:"states"`
	Transitions int64      `json:"transitions"`
	Depth       int        `json:"depth"`
	Seconds     float64    `json:"seconds"`
	Rate        float64    `json:"states_per_second"`
	Collision   float64    `json:"collision_probability"`
	Properties  []Property `json:"properties"`
}

// Find returns the line of a property, or nil.
func (r *Report) Find(name string) *Property {
	for i := range r.Properties {
		if r.Properties[i].Name == name {
			return &r.Properties[i]
		}
	}
	return nil
}

// Claims returns the properties that an algorithm claims.
func Claims(spec core.Spec) []string {
	list := []string{MutualExclusion, Deadlock}
	if !spec.TryLock {
		list = append(list, Starvation)
	}
	if spec.Theory.ME3 {
		list = append(list, Order, OrderOpen)
	}
	if spec.Theory.Bypass != nil {
		list = append(list, Bypass)
	}
	list = append(list, Token, Fence, Channels, Start, Alibi)
	if spec.Upset != nil {
		list = append(list, Convergence)
	}
	return list
}

// Run checks c.
func Run(c Config) (*Report, error) {
	if c.Properties == nil {
		c.Properties, c.byDefault = Claims(c.Spec), true
	}
	for _, p := range c.Properties {
		if !slices.Contains(Properties(), p) {
			return nil, fmt.Errorf("unknown property %q: want %s", p, strings.Join(Properties(), ", "))
		}
	}
	if c.Requests == 0 && c.Spec.Endless != "" && c.Nodes > 2 {
		c.Requests, c.bounded = 1, c.Spec.Endless
	}
	r := &run{Config: c, started: time.Now(), report: &Report{
		Algorithm: c.Spec.Name, Nodes: c.Nodes, Requests: Bound(c.Requests), Network: c.Network.String(),
	}}
	for _, pass := range []func() error{r.base, r.order, r.open, r.fence, r.start, r.converge} {
		if err := pass(); err != nil {
			return nil, fmt.Errorf("cannot check %s: %w", c.Spec.Name, err)
		}
	}
	r.sum()
	return r.report, nil
}

// A run is one check under way.
type run struct {
	Config
	report  *Report
	started time.Time
	ways    map[wayTo]way // those that were found
}

func (r *run) wants(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(r.Properties, n) })
}

func (r *run) group() group {
	return group{
		Spec: r.Spec, Nodes: r.Nodes, Requests: r.Requests, Network: r.Network,
		Requesters: r.Requesters, Starts: r.Starts,
	}
}

// remaining returns the limits of a pass, with the time that is left.
func (r *run) remaining(pass string) Limits {
	l := r.Limits
	l.Pass = pass
	if l.Time > 0 {
		l.Time = max(time.Nanosecond, l.Time-time.Since(r.started))
	}
	return l
}

// brokenBy says which property is broken by what the host sees.
var brokenBy = [...]struct {
	name string
	bit  explore.Broken
}{
	{MutualExclusion, brokenExclusion}, {Deadlock, brokenDeadlock}, {Order, brokenOrder}, {OrderOpen, brokenOrder},
	{Fence, brokenFence}, {Channels, brokenChannels}, {Token, brokenToken}, {Alibi, brokenAlibi}, {Start, brokenExclusion | brokenDeadlock | brokenToken | brokenAlibi},
}

func bitOf(name string) explore.Broken {
	for _, b := range brokenBy {
		if b.name == name {
			return b.bit
		}
	}
	return 0
}

// explore explores a group for the named properties and judges those that are
// wanted.
func (r *run) explore(g group, names ...string) (*host, *explore.Exploration, error) {
	names = slices.DeleteFunc(names, func(n string) bool { return !r.wants(n) })
	h, err := newHost(g)
	if err != nil {
		return nil, nil, err
	}
	l := r.remaining(passName(names))
	if len(names) == 1 && (g.Order || g.Fence || !r.wants(Starvation, Bypass, Channels)) {
		l.Stop = bitOf(names[0]) // there is nothing else to look for
	}
	l.Stop |= brokenChannels // it would never end
	var trouble error
	e, err := explore.ExploreTelling(h, l, func(now explore.Broken, so explore.Exploration) {
		trouble = errors.Join(trouble, r.early(h, names, now, so))
	})
	if beyond(err) {
		e, err = &explore.Exploration{Unfinished: err.Error()}, nil
	}
	if err := errors.Join(err, trouble); err != nil {
		return nil, nil, err
	}
	r.count(e.States)
	if _, piled := e.Broken[brokenChannels]; piled && e.Unfinished == "" {
		e.Unfinished = fmt.Sprintf("messages pile up: more than %d on one link", maxLetters)
	}
	if rep := r.report; rep.States == 0 {
		rep.States, rep.Transitions, rep.Depth = e.States, e.Transitions, e.Depth
	}
	for _, name := range names {
		if err := r.judge(h, e, name); err != nil {
			return nil, nil, err
		}
	}
	return h, e, nil
}

// beyond reports whether an error means that a model is more than the checker
// can take.
func beyond(err error) bool {
	return errors.As(err, new(liftError)) || errors.As(err, new(tooManyTimes)) || errors.As(err, new(tooManyBlobs))
}

// passName names a pass over the states by what it looks for.
func passName(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:min(1, len(names))], "") + "..."
}

// early makes the counterexamples to what was just seen broken, if there is
// room beside what is being explored. If not, they are made at the end.
func (r *run) early(h *host, names []string, now explore.Broken, so explore.Exploration) error {
	for _, name := range names {
		b := brokenOf(&so, name) & now
		if b == 0 || r.report.Find(name) != nil {
			continue
		}
		p, _, err := r.way(h, name, b, so.Memory)
		if err != nil {
			return err
		}
		if p != nil {
			r.add(*p)
		}
	}
	return nil
}

// brokenOf returns what was seen broken that breaks a property, the first of
// it if that is several things, or 0.
func brokenOf(e *explore.Exploration, name string) explore.Broken {
	bits := bitOf(name)
	for _, b := range slices.Sorted(maps.Keys(e.Broken)) {
		if b&bits != 0 {
			return b
		}
	}
	return 0
}

// judge gives a property its verdict.
func (r *run) judge(h *host, e *explore.Exploration, name string) error {
	if r.report.Find(name) != nil {
		return nil
	}
	if b := brokenOf(e, name); b != 0 {
		return r.violated(h, e, name, b)
	}
	p := r.passed(e, name)
	if p.Verdict == Unfinished {
		p.Note += sound(e.Whole)
	}
	switch {
	case name == Token && !h.blobs.some(func(b *blob) bool { return b.tokens > 0 }):
		p.Verdict, p.Note = NotChecked, "it has no token"
	case name == Alibi && !h.blobs.some(func(b *blob) bool { return b.alibis != 0 }):
		p.Verdict, p.Note = NotChecked, "it gives no alibi"
	case name == Channels && e.Unfinished == "":
		p.Note = strings.TrimPrefix(p.Note+fmt.Sprintf("; at most %d messages on one link", h.longest.Load()), "; ")
	}
	r.add(p)
	return nil
}

// sound says up to which length runs were all looked at, of a search that is
// unfinished and has found nothing.
func sound(levels int) string {
	if levels < 2 {
		return ""
	}
	return fmt.Sprintf("; nothing is wrong in runs of up to %d steps", levels-1)
}

// passed is the verdict on a property that nothing has broken.
func (r *run) passed(e *explore.Exploration, name string) Property {
	p := Property{Name: name, Verdict: Holds}
	switch {
	case e.Unfinished != "":
		p.Verdict, p.Note = Unfinished, e.Unfinished
	case r.Requests > 0:
		p.Verdict, p.Note = HoldsBounded, fmt.Sprintf("up to %d requests of each process", r.Requests)
		if r.bounded != "" {
			p.Note += ", since " + r.bounded
		}
	}
	return p
}

func (r *run) add(p Property) {
	if p.Trace == nil {
		p.Trace = []string{} // in JSON a list, always
	}
	if r.wants(p.Name) && r.report.Find(p.Name) == nil {
		r.report.Properties = append(r.report.Properties, p)
		if p.Verdict == Violated && r.Found != nil {
			r.Found(p)
		}
	}
}

// count notes that a pass has told so many states apart.
func (r *run) count(states int64) { r.report.Collision += explore.Collision(states) }

// base is the pass without monitors.
func (r *run) base() error {
	if !r.wants(MutualExclusion, Deadlock, Starvation, Bypass, Token, Channels, Alibi) {
		return nil
	}
	h, e, err := r.explore(r.group(), MutualExclusion, Deadlock, Token, Alibi, Channels)
	if err != nil {
		return err
	}
	if r.wants(Starvation, Bypass) {
		return r.liveness(h, e)
	}
	return nil
}

// order, open and fence are the passes with one monitor each.
func (r *run) order() error {
	if !r.wants(Order) {
		return nil
	}
	g := r.group()
	g.Order = true
	_, _, err := r.explore(g, Order)
	return err
}

func (r *run) open() error {
	if !r.wants(OrderOpen) {
		return nil
	}
	g := r.group()
	g.Order, g.Open = true, true
	_, _, err := r.explore(g, OrderOpen)
	return err
}

func (r *run) fence() error {
	if !r.wants(Fence) {
		return nil
	}
	g := r.group()
	g.Fence = true
	_, _, err := r.explore(g, Fence)
	return err
}

// start is the pass from every start of a view.
func (r *run) start() error {
	if !r.wants(Start) {
		return nil
	}
	g := r.group()
	g.Starts = AnyStart(r.Nodes)
	_, _, err := r.explore(g, Start)
	return err
}

// AnyStart returns every view of n processes: any holder, inside or not.
func AnyStart(n int) []core.View {
	var views []core.View
	for h := range core.ID(n) {
		views = append(views, core.View{N: n, Holder: h}, core.View{N: n, Holder: h, Busy: true})
	}
	return views
}

// sum completes the report.
func (r *run) sum() {
	rep := r.report
	order := Properties()
	slices.SortStableFunc(rep.Properties, func(a, b Property) int {
		return slices.Index(order, a.Name) - slices.Index(order, b.Name)
	})
	rep.Verdict = Holds
	checked := false
	for _, p := range rep.Properties {
		if p.Verdict == NotChecked {
			continue
		}
		checked = true
		if p.Verdict.rank() > rep.Verdict.rank() {
			rep.Verdict = p.Verdict
		}
	}
	if !checked {
		rep.Verdict = NotChecked
	}
	rep.Seconds = time.Since(r.started).Seconds()
	rep.Rate = float64(rep.States) / rep.Seconds
	rep.Collision = min(1, rep.Collision)
}
