package viewmodel

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

var long = flag.Bool("long", false, "explore the large settings, too")

func spec(name string, _ int) (algorithm.Spec, error) { return catalog.Make(name, algorithm.Options{}) }

// A setting is the views and what may happen in them.
type setting struct {
	members int
	changes []Change
	homes   []uint64 // in each view
	Config
}

// The settings by name. Members are a = 1, b = 2 and so on; a is the home of view 1.
func settings() map[string]setting {
	evict := func(who ...uint64) []Change {
		var all []Change
		for _, inc := range who {
			all = append(all, Change{Evict: []uint64{inc}})
		}
		return all
	}
	once, twice := Config{Asks: 1, Crashes: true}, Config{Asks: 2, Crashes: true}
	expires := Config{Asks: 1, Crashes: true, Lapses: 1}
	quiet := func(c Config, who ...uint64) Config {
		c.Quiet = who
		return c
	}
	views := func(all ...Change) []Change { return all }
	same := Change{}
	evicts := func(inc uint64) Change { return Change{Evict: []uint64{inc}} }
	joins := func(inc uint64) Change { return Change{Join: []uint64{inc}} }
	leaves := func(inc uint64) Change { return Change{Leave: []uint64{inc}} }
	replaces := func(inc, old uint64) Change { return Change{Evict: []uint64{old}, Join: []uint64{inc}} }
	asks := Config{Asks: 1}
	claims := func(c Config, n int, to ...uint64) Config {
		c.Client = Client{Through: 1, To: to, Claims: n}
		return c
	}
	moves := func(c Config) Config {
		c = claims(c, 1, 2)
		c.Client.Moves = true
		return c
	}
	delegated := func(c Config, n int, to ...uint64) Config {
		c = claims(c, n, to...)
		c.Client.Block = 3
		return c
	}
	return map[string]setting{
		"home evicted":                {3, evict(1), []uint64{1, 2}, once},
		"home evicted, to c":          {3, evict(1), []uint64{1, 3}, once},
		"b evicted":                   {3, evict(2), []uint64{1, 1}, once},
		"c evicted":                   {3, evict(3), []uint64{1, 1}, once},
		"home evicted, twice each":    {3, evict(1), []uint64{1, 2}, twice},
		"b evicted, twice each":       {3, evict(2), []uint64{1, 1}, twice},
		"home evicted, all":           {3, evict(1), []uint64{1, 2}, Config{Asks: 1, Crashes: true, Cancels: 1, Lapses: 1, Late: 1}},
		"b evicted, all":              {3, evict(2), []uint64{1, 1}, Config{Asks: 1, Crashes: true, Cancels: 1, Lapses: 1, Late: 1}},
		"home evicted, handover":      {3, evict(1), []uint64{1, 2}, Config{Asks: 2, Crashes: true, Handover: 1}},
		"home evicted, twice, cancel": {3, evict(1), []uint64{1, 2}, Config{Asks: 2, Crashes: true, Cancels: 1}},
		"two evicted":                 {3, evict(1, 3), []uint64{1, 2, 2}, once},
		"two homes evicted":           {3, evict(1, 2), []uint64{1, 2, 3}, once},
		"home leaves":                 {3, []Change{{Leave: []uint64{1}}}, []uint64{1, 2}, Config{Asks: 2, Cancels: 1}},
		"nobody evicted":              {3, []Change{{}}, []uint64{1, 1}, Config{Asks: 1}},
		"a home joins":                {2, []Change{{Join: []uint64{3}}}, []uint64{1, 3}, Config{Asks: 2}},
		"a home joins, is evicted":    {2, []Change{{Join: []uint64{3}}, {Evict: []uint64{3}}}, []uint64{1, 3, 1}, once},
		"home evicted, another joins": {3, []Change{{Evict: []uint64{1}, Join: []uint64{4}}}, []uint64{1, 4}, once},
		"other algorithm":             {3, []Change{{Algorithm: "central"}}, []uint64{1, 1}, Config{Asks: 1}},
		"nothing, then c evicted":     {3, []Change{{}, {Evict: []uint64{3}}}, []uint64{1, 1, 1}, once},
		"nothing, twice":              {3, []Change{{}, {}}, []uint64{1, 1, 1}, Config{Asks: 1}},

		"home evicted, late reports":       {3, evict(1), []uint64{1, 2}, Config{Asks: 1, Crashes: true, Later: true}},
		"b evicted, late reports":          {3, evict(2), []uint64{1, 1}, Config{Asks: 1, Crashes: true, Later: true}},
		"only c asks, twice, late reports": {3, evict(1), []uint64{1, 2}, Config{Asks: 2, Crashes: true, Cancels: 1, Quiet: []uint64{1, 2}, Later: true}},
		"b and c ask, twice, late reports": {3, evict(1), []uint64{1, 2}, Config{Asks: 2, Crashes: true, Quiet: []uint64{1}, Later: true}},
		"home evicted, all, late reports":  {3, evict(1), []uint64{1, 2}, Config{Asks: 1, Crashes: true, Cancels: 1, Lapses: 1, Late: 1, Later: true}},
		"two evicted, late reports":        {3, evict(1, 3), []uint64{1, 2, 2}, Config{Asks: 1, Crashes: true, Later: true}},
		"two homes evicted, late reports":  {3, evict(1, 2), []uint64{1, 2, 3}, Config{Asks: 1, Crashes: true, Later: true}},
		"nobody evicted, late reports":     {3, []Change{{}}, []uint64{1, 1}, Config{Asks: 1, Later: true}},

		"home evicted, a home joins":           {2, views(evicts(1), joins(3)), []uint64{1, 2, 3}, once},
		"home evicted of three, a home joins":  {3, views(evicts(1), joins(4)), []uint64{1, 2, 4}, quiet(once, 2, 3)},
		"lender evicted":                       {3, views(same, evicts(1)), []uint64{1, 1, 2}, quiet(once, 1)},
		"lender evicted, a home joins":         {2, views(same, evicts(1), joins(3)), []uint64{1, 1, 2, 3}, once},
		"a home joins, lease expires":          {2, views(joins(3)), []uint64{1, 3}, expires},
		"b replaced by a home, lease expires":  {2, views(replaces(3, 2)), []uint64{1, 3}, expires},
		"b of three replaced, lease expires":   {3, views(replaces(4, 2)), []uint64{1, 4}, quiet(expires, 3)},
		"nothing, a home joins, lease expires": {2, views(same, joins(3)), []uint64{1, 1, 3}, expires},
		"nothing, a home joins":                {2, views(same, joins(3)), []uint64{1, 1, 3}, once},
		"nothing, home evicted":                {3, views(same, evicts(1)), []uint64{1, 1, 2}, quiet(once, 3)},
		"nothing, home leaves":                 {3, views(same, leaves(1)), []uint64{1, 1, 2}, once},
		"home evicted, next home leaves":       {3, views(evicts(1), leaves(2)), []uint64{1, 2, 3}, once},
		"a home joins, leaves":                 {2, views(joins(3), leaves(3)), []uint64{1, 3, 1}, once},
		"home evicted, reports in parts":       {3, evict(1), []uint64{1, 2}, Config{Asks: 1, Crashes: true, Parts: true}},

		"claim, a evicted":                     {2, evict(1), []uint64{1, 2}, claims(asks, 1, 2)},
		"claim, a evicted, all":                {2, evict(1), []uint64{1, 2}, claims(expires, 2, 2)},
		"claim, a of three evicted":            {3, evict(1), []uint64{1, 3}, claims(quiet(asks, 1, 2), 1, 2)},
		"claim at the home, a evicted":         {3, evict(1), []uint64{1, 2}, claims(quiet(asks, 2), 1, 2)},
		"claim, home stays":                    {3, evict(1), []uint64{3, 3}, claims(quiet(asks, 1, 2), 1, 2)},
		"claim, home stays, a asks":            {3, evict(1), []uint64{3, 3}, claims(quiet(asks, 2), 1, 2)},
		"claim, nobody evicted":                {2, views(same), []uint64{1, 1}, claims(asks, 1, 2)},
		"claim at the home, nobody evicted":    {2, views(same), []uint64{2, 2}, claims(asks, 1, 2)},
		"claim, nobody of three evicted":       {3, views(same), []uint64{3, 3}, claims(quiet(asks, 2), 1, 2)},
		"claim, nobody evicted, lease expires": {2, views(same), []uint64{1, 1}, claims(Config{Asks: 1, Lapses: 1}, 1, 2)},
		"claim, late reports":                  {2, views(same), []uint64{1, 1}, claims(Config{Asks: 1, Later: true, Quiet: []uint64{1}}, 1, 2)},
		"claim through a joiner":               {2, views(replaces(3, 1)), []uint64{1, 2}, claims(quiet(asks, 1, 3), 1, 3)},
		"claim through a joiner, all ask":      {2, views(replaces(3, 1)), []uint64{1, 2}, claims(asks, 1, 3)},
		"claim, a home joins":                  {2, views(joins(3)), []uint64{1, 3}, claims(quiet(asks, 1, 2), 1, 2)},
		"claim, nothing, a evicted":            {2, views(same, evicts(1)), []uint64{1, 1, 2}, claims(quiet(asks, 2), 1, 2)},
		"claim, a evicted, a home joins":       {2, views(evicts(1), joins(3)), []uint64{1, 2, 3}, claims(quiet(asks, 1, 2), 1, 2)},
		"claim, nothing, a home joins":         {2, views(same, joins(3)), []uint64{2, 2, 3}, claims(quiet(asks, 1, 2), 1, 2)},
		"claim, nothing, twice":                {2, views(same, same), []uint64{1, 1, 1}, claims(quiet(asks, 1), 1, 2)},
		"claim, nothing, twice, all ask":       {2, views(same, same), []uint64{1, 1, 1}, claims(asks, 1, 2)},
		"claim and back":                       {2, views(same, same), []uint64{1, 1, 1}, claims(quiet(asks, 2), 2, 2, 1)},
		"claim, another home evicted":          {3, evict(3), []uint64{3, 2}, claims(quiet(asks, 2), 1, 2)},
		"claim twice":                          {3, evict(1), []uint64{1, 3}, claims(quiet(asks, 1, 2), 2, 2, 3)},
		"claim twice, b evicted":               {3, evict(2), []uint64{1, 1}, Config{Asks: 1, Quiet: []uint64{2}, Client: Client{Through: 2, To: []uint64{1, 3}, Claims: 2}}},
		"claim twice, both evicted":            {2, views(replaces(3, 1), evicts(2)), []uint64{1, 2, 3}, claims(quiet(asks, 1, 2), 2, 2, 3)},
		"delegated":                            {3, nil, []uint64{1}, delegated(asks, 0)},
		"delegated elsewhere":                  {3, nil, []uint64{2}, delegated(asks, 0)},
		"delegated, same members":              {2, views(same), []uint64{1, 1}, delegated(asks, 0)},
		"delegated, a evicted":                 {2, evict(1), []uint64{1, 2}, delegated(expires, 0)},
		"delegated, b evicted":                 {3, evict(2), []uint64{1, 1}, delegated(quiet(asks, 3), 0)},
		"delegated, a home joins":              {2, views(joins(3)), []uint64{1, 3}, delegated(quiet(asks, 2), 0)},
		"delegated, cancel":                    {2, views(same), []uint64{1, 1}, delegated(Config{Asks: 1, Cancels: 1, Late: 1}, 0)},
		"delegated, claim, a evicted":          {2, evict(1), []uint64{1, 2}, delegated(asks, 1, 2)},
		"delegated, claim, nobody evicted":     {2, views(same), []uint64{1, 1}, delegated(asks, 1, 2)},
		"delegated, claim, a home joins":       {2, views(joins(3)), []uint64{1, 3}, delegated(quiet(asks, 1, 2), 1, 2)},
		"delegated, claim through a joiner":    {2, views(replaces(3, 1)), []uint64{1, 2}, delegated(quiet(asks, 1, 3), 1, 3)},
		"delegated, move, a leaves":            {2, views(same, leaves(1)), []uint64{1, 1, 2}, func() Config { c := moves(quiet(asks, 1)); c.Client.Block = 3; return c }()},

		"claim, move, a leaves":  {2, views(same, leaves(1)), []uint64{1, 1, 2}, moves(quiet(asks, 1))},
		"claim, move, a evicted": {3, evict(1), []uint64{3, 3}, moves(quiet(asks, 1, 2))},
	}
}

// model makes the model of a setting.
func (s setting) model(t *testing.T, algorithm string) *Model {
	t.Helper()
	s.Views = Script(algorithm, s.members, s.changes...)
	name, err := LockWith(s.Views, s.homes...)
	if err != nil {
		t.Fatal(err)
	}
	if s.Lock = name; s.Spec == nil {
		s.Spec = spec
	}
	m, err := New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A run is a setting explored to the end, and what there is in it.
type run struct {
	algorithm, setting  string
	states, transitions int64
	depth               int
	ends                bool // see that every run ends every day, not only with -long
}

func explored(t *testing.T, r run) {
	s, ok := settings()[r.setting]
	if !ok {
		t.Fatalf("no setting %q", r.setting)
	}
	m := s.model(t, r.algorithm)
	e, err := explore.Explore(m, explore.Limits{Memory: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if e.Unfinished != "" {
		t.Fatalf("unfinished: %s", e.Unfinished)
	}
	for b := range e.Broken {
		story, err := m.Story(b, explore.Limits{})
		t.Errorf("%v %v\n%s", Names(b), err, strings.Join(story, "\n"))
	}
	if e.States != r.states || e.Transitions != r.transitions || e.Depth != r.depth {
		t.Errorf("{%q, %q, %d, %d, %d, %v}, in %v; want %d, %d, %d", r.algorithm, r.setting, e.States, e.Transitions, e.Depth, r.ends, e.Elapsed.Round(time.Second/10), r.states, r.transitions, r.depth)
	}
	if !r.ends && !*long {
		return
	}
	if o, err := explore.OutlookOf(m, explore.Limits{}); err != nil || o.Runs != explore.AllEnd || o.States != e.States {
		t.Errorf("outlook %+v, %v: want that every run ends, and %d states", o, err, e.States)
	}
}

// TestViewChange explores the change of views to the end. The counts are of no
// meaning in themselves: when one differs, something behaves otherwise than
// before, and whoever changed it must know why.
func TestViewChange(t *testing.T) {
	for _, r := range runs() {
		if !nightly.On() && r.states > 20_000 {
			continue
		}
		t.Run(r.algorithm+", "+r.setting, func(t *testing.T) { explored(t, r) })
	}
}

// TestLong explores what takes too long for every day: make proofs-view.
func TestLong(t *testing.T) {
	if !*long {
		t.Skip("without -long")
	}
	for _, r := range longRuns() {
		t.Run(r.algorithm+", "+r.setting, func(t *testing.T) { explored(t, r) })
	}
}
