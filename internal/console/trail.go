package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/trail"
	"github.com/stile-lock/stile/internal/words"
)

// Bounds of what a trail shows.
const (
	maxWindow  = 60   // steps of a sliding window
	maxSteps   = 2000 // steps of a recording
	maxSeconds = 60
	maxParts   = 10  // pages of a member's trail that are read at a time
	keptMarks  = 600 // marks of each member that a sliding window is made of
)

// A trailDoc shows what happens to a lock, as a scenario.
type trailDoc struct {
	Name      string   `json:"name"`
	Algorithm string   `json:"algorithm"`
	Epoch     uint64   `json:"epoch"`
	Seats     []string `json:"seats"` // names of the members: P1, P2 and so on
	Text      string   `json:"text"`  // the scenario; empty while it is recorded
	Steps     int      `json:"steps"`
	From      int64    `json:"from_ms"`
	To        int64    `json:"to_ms"`
	Done      bool     `json:"done"`
	Why       string   `json:"why"` // why there is no scenario, or why it is incomplete
}

func checkTrail(q url.Values) error {
	if err := checkName(q); err != nil {
		return err
	}
	n, err := strconv.Atoi(cmp.Or(q.Get("seconds"), "1"))
	if err != nil || n < 1 || n > maxSeconds {
		return badParameter("seconds %.20q: want a number of 1 to %d, or none for the last steps as they happen", q.Get("seconds"), maxSeconds)
	}
	return nil
}

// A trailSight follows a lock.
type trailSight struct {
	cluster Cluster
	who     node.Caller
	name    string
	length  time.Duration // of the recording; 0 for a sliding window

	begun time.Time            // trails have times since then
	since time.Time            // when all members had begun to follow; zero before
	logs  map[string]*trailLog // by member
	doc   *trailDoc            // as last shown
	none  string               // why there was no scenario when the logs last changed
}

func beginTrail(c *Console, who node.Caller, q url.Values) look {
	seconds, _ := strconv.Atoi(q.Get("seconds")) // checked
	return (&trailSight{
		cluster: c.cluster, who: who, name: q.Get("name"), length: time.Duration(seconds) * time.Second,
		begun: time.Now(), logs: map[string]*trailLog{},
	}).look
}

func (v *trailSight) look(ctx context.Context) (any, bool, error) {
	s, err := membersOf(v.cluster)
	if err != nil {
		return nil, false, err
	}
	for name := range v.logs {
		if !slices.ContainsFunc(s.Members, func(m node.MemberInfo) bool { return m.Name == name }) {
			delete(v.logs, name)
		}
	}
	parts := make([]trailPart, len(s.Members))
	var wg sync.WaitGroup
	for i, m := range s.Members {
		l := v.logs[m.Name]
		if l == nil {
			l = &trailLog{}
			v.logs[m.Name] = l
		}
		wg.Go(func() { parts[i] = v.read(ctx, m, l) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	d := v.show(s.Members, parts)
	v.doc = d
	return d, d.Done, nil
}

// A trailLog is what was read of the trail of a member.
type trailLog struct {
	trail.Log
	quickest time.Duration // answer so far: it tells most about the clock of the member
}

// A trailPart is how reading the trail of a member went.
type trailPart struct {
	news bool // there was something to read
	anew bool // the trail has begun anew
	kept bool // the lock is a kept one
	why  string
	err  error
}

// read reads what is new of the trail of a member.
func (v *trailSight) read(ctx context.Context, m node.MemberInfo, l *trailLog) (p trailPart) {
	for range maxParts {
		about, err := json.Marshal(node.TrailQuery{Name: v.name, From: l.Next, For: v.who.Path()})
		if err != nil {
			p.err = err
			return p
		}
		var r node.TrailReport
		asked := time.Since(v.begun)
		if err := v.cluster.Ask(ctx, v.who, m, node.AskTrail, about, &r); err != nil {
			p.err = err
			return p
		}
		if r.Kept || r.Why != "" {
			p.kept, p.why = r.Kept, r.Why
			return p
		}
		begun, took := l.Base != nil, time.Since(v.begun)-asked
		now := member.Instant(asked + took/2)
		anew, err := l.Take(&r.Page, now)
		if err != nil {
			*l, p.err = trailLog{}, err
			return p
		}
		if anew || took < l.quickest {
			l.quickest, l.Ahead = took, now-r.Now
		}
		p.news, p.anew = p.news || anew || len(r.Marks) > 0, p.anew || anew && begun
		if !r.More {
			break
		}
	}
	if v.length == 0 {
		l.Keep(keptMarks)
	}
	return p
}

// show makes the document.
func (v *trailSight) show(members []node.MemberInfo, parts []trailPart) *trailDoc {
	d := &trailDoc{Name: v.name, Seats: []string{}}
	if v.doc != nil {
		*d = *v.doc
	}
	var whys []string
	news, anew, whole := v.doc == nil, false, true
	for i, p := range parts {
		news, anew = news || p.news, anew || p.anew
		switch {
		case p.kept:
			return &trailDoc{Name: v.name, Seats: []string{}, Why: p.why, Done: true}
		case p.err != nil:
			whys = append(whys, fmt.Sprintf("%s did not answer: %v", words.Quoted(members[i].Name), p.err))
		case p.why != "":
			whys = append(whys, fmt.Sprintf("%s: %s", words.Quoted(members[i].Name), p.why))
		}
		whole = whole && v.logs[members[i].Name].Base != nil
	}
	if v.length > 0 {
		v.record(d, whole, anew)
	} else if news {
		v.merge(d, trail.Options{Name: v.name, Last: maxWindow})
	}
	d.Why = cmp.Or(strings.Join(whys, "; "), v.none)
	return d
}

// record shows how far a recording is, and in the end what it recorded.
func (v *trailSight) record(d *trailDoc, whole, anew bool) {
	switch {
	case !whole:
		v.none = "waiting for all members to follow the lock"
	case anew || v.since.IsZero(): // what was recorded before does not fit together with what comes
		v.since, v.none = time.Now(), ""
		d.From = v.since.UnixMilli()
	}
	d.Steps = v.steps()
	recorded := !v.since.IsZero() && (time.Since(v.since) >= v.length || d.Steps >= maxSteps)
	late := time.Since(v.begun) >= 3*v.length+10*time.Second // members come and go, or do not answer
	if d.Done = recorded || late; d.Done {
		v.merge(d, trail.Options{Name: v.name, First: maxSteps})
	}
}

// steps returns the number of steps that members have recorded.
func (v *trailSight) steps() (n int) {
	for _, l := range v.logs {
		for _, k := range l.Marks {
			if k.Kind == member.MarkStep {
				n++
			}
		}
	}
	return n
}

// merge makes the scenario.
func (v *trailSight) merge(d *trailDoc, o trail.Options) {
	s, err := v.scenario(o)
	if err != nil {
		d.Text, d.Steps, d.From, d.To, v.none = "", 0, 0, 0, err.Error()
		return
	}
	v.none = ""
	if s.Left > 0 && v.length > 0 {
		v.none = fmt.Sprintf("%s more recorded after its end", words.Plural(s.Left, "step"))
	}
	d.Algorithm, d.Epoch, d.Seats, d.Text, d.Steps = s.Algorithm, s.Epoch, append([]string{}, s.Seats...), s.Text, s.Steps
	d.From, d.To = v.moment(s.From), v.moment(s.To)
}

// moment returns the Unix time of a time of the trail; 0 for 0.
func (v *trailSight) moment(at member.Instant) int64 {
	if at == 0 {
		return 0
	}
	return v.begun.Add(time.Duration(at)).UnixMilli()
}

func (v *trailSight) scenario(o trail.Options) (*trail.Scenario, error) {
	var logs []trail.Log
	var last *member.TrailView
	for _, l := range v.logs {
		if l.Base == nil {
			continue
		}
		logs = append(logs, l.Log)
		if last == nil || l.Base.View.Epoch > last.Epoch {
			last = l.Base.View
		}
	}
	if last == nil {
		return nil, fmt.Errorf("%w: no member follows the lock", trail.ErrNone)
	}
	spec, err := catalog.MakeLive(last.Algorithm, last.Version)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(logs, func(a, b trail.Log) int { return cmp.Compare(a.Node, b.Node) })
	return trail.Merge(spec, logs, o)
}
