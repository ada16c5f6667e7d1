package catalog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/nightly"
)

// A script is what a fuzzer writes. The first bytes choose the algorithm and
// the view; then every byte is an action, with its arguments behind it.
type script []byte

func (s *script) next() byte {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return b
}

func (s *script) below(n int) int { return int(s.next()) % n }

func (s *script) take(n int) []byte {
	n = min(n, len(*s))
	b := (*s)[:n]
	*s = (*s)[n:]
	return b
}

// maxSeats is the largest group that scripts play with.
const maxSeats = 7

// A play is a group of machines under a script. Before every step a machine's
// bytes are loaded into a twin, which must then do the same.
type play struct {
	t        *testing.T
	spec     algorithm.Spec
	n        int
	birth    algorithm.Birth
	steps    int
	machines []algorithm.Machine
	twins    []algorithm.Machine
	phase    []phase
	started  []bool
	flight   []letter
	timers   []timer
	nonsense bool // something was received that nobody sent
	out, own host.Output
}

type phase uint8

const (
	idle phase = iota
	waiting
	inside
)

type letter struct {
	from, to algorithm.ID
	bytes    []byte
}

type timer struct {
	seat algorithm.ID
	id   int
}

// cast lets the script choose who plays. It returns nil if that is impossible.
func cast(t *testing.T, s *script, specs []algorithm.Spec) *play {
	p := &play{t: t, spec: specs[s.below(len(specs))], n: 1 + s.below(maxSeats)}
	v := algorithm.View{N: p.n, Holder: algorithm.ID(s.below(p.n)), Busy: s.below(2) == 1}
	var err error
	if p.machines, err = p.spec.Group(v); err != nil {
		return nil
	}
	if p.twins, err = p.spec.Group(v); err != nil {
		t.Fatal(err)
	}
	if p.birth, err = p.spec.Birth(p.n); err != nil {
		t.Fatal(err)
	}
	p.out.Listen = true // the twins' is not
	p.phase, p.started = make([]phase, p.n), make([]bool, p.n)
	if v.Busy {
		p.phase[v.Holder] = inside
	}
	return p
}

func (p *play) run(s script) {
	for len(s) > 0 {
		self := algorithm.ID(s.below(p.n))
		switch s.below(10) {
		case 0, 1:
			p.turn(self)
		case 2:
			if !p.started[self] {
				p.started[self] = true
				p.step(self, host.Input{Kind: host.Start})
			}
		case 3:
			kind := []host.InputKind{host.Suspect, host.Trust}[s.below(2)]
			p.step(self, host.Input{Kind: kind, From: algorithm.ID(s.below(p.n))})
		case 4:
			p.expire(s.below(256))
		case 5:
			p.nonsense = true
			p.step(self, host.Input{Kind: host.Receive, From: algorithm.ID(s.below(p.n + 1)), Bytes: s.take(s.below(24))})
		case 6:
			p.forge(self, &s)
		default:
			p.deliver(s.below(256))
		}
	}
}

// turn lets the application ask or leave, whichever it can.
func (p *play) turn(self algorithm.ID) {
	switch p.phase[self] {
	case idle:
		p.phase[self] = waiting
		p.step(self, host.Input{Kind: host.Request})
	case inside:
		p.phase[self] = idle
		p.step(self, host.Input{Kind: host.Release})
	}
}

func (p *play) expire(i int) {
	if len(p.timers) == 0 {
		return
	}
	i %= len(p.timers)
	t := p.timers[i]
	p.timers = slices.Delete(p.timers, i, i+1)
	p.step(t.seat, host.Input{Kind: host.Expire, Timer: t.id})
}

// deliver hands over a message. It keeps the order of each channel, so that
// any network an algorithm may demand is honoured.
func (p *play) deliver(i int) {
	if len(p.flight) == 0 {
		return
	}
	l := p.flight[i%len(p.flight)]
	first := slices.IndexFunc(p.flight, func(o letter) bool { return o.from == l.from && o.to == l.to })
	l = p.flight[first]
	p.flight = slices.Delete(p.flight, first, first+1)
	p.step(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
}

// forge gives self a changed copy of a message under way, from anybody.
func (p *play) forge(self algorithm.ID, s *script) {
	if len(p.flight) == 0 {
		return
	}
	b := bytes.Clone(p.flight[s.below(len(p.flight))].bytes)
	b[s.below(len(b))] = s.next()
	p.nonsense = true
	p.step(self, host.Input{Kind: host.Receive, From: algorithm.ID(s.below(p.n)), Bytes: b})
}

// step gives a machine and its twin an input and compares what they do.
func (p *play) step(self algorithm.ID, in host.Input) {
	p.t.Helper()
	m, twin := p.machines[self], p.twin(self)
	before := m.AppendState(nil)
	if err := twin.LoadState(before); err != nil {
		p.fail(self, "its state does not load: %v", err)
	}
	if again := twin.AppendState(nil); !bytes.Equal(again, before) {
		p.fail(self, "its state %v was loaded as %v", before, again)
	}
	if in.Kind == host.Receive {
		p.reencode(m, in.Bytes)
	}
	err := m.Step(in, &p.out)
	for _, r := range p.out.Reasons {
		_ = p.spec.Say(self, r)
	}
	twinErr := twin.Step(in, &p.own)
	after := m.AppendState(nil)
	switch {
	case (err == nil) != (twinErr == nil):
		p.fail(self, "%+v: %v, but its twin %v", in, err, twinErr)
	case err != nil && !p.nonsense:
		p.fail(self, "%+v, which a peer sent, is refused: %v", in, err)
	case err != nil && !bytes.Equal(after, before):
		p.fail(self, "%+v was refused (%v) but changed the state", in, err)
	case !bytes.Equal(after, twin.AppendState(nil)):
		p.fail(self, "after %+v: state\n%v, but its twin\n%v", in, m.Describe(), twin.Describe())
	}
	if err == nil {
		p.obey(self, in)
	}
}

// twin returns a machine with another past than self's: by turns one that is
// new, and one that did not take part in every step.
func (p *play) twin(self algorithm.ID) algorithm.Machine {
	p.steps++
	if p.steps%2 == 0 {
		return p.birth(self, algorithm.View{N: p.n})
	}
	return p.twins[self]
}

// reencode demands that a message that decodes has only these bytes.
func (p *play) reencode(m algorithm.Machine, b []byte) {
	again, err := m.RecodeMessage(nil, b, nil)
	if err == nil && !bytes.Equal(again, b) {
		p.t.Fatalf("%s: message %v decodes, and is encoded as %v", p.spec.Name, b, again)
	}
}

// obey does what the last step wanted done, if it is allowed to want it.
func (p *play) obey(self algorithm.ID, in host.Input) {
	if p.out.Entered != p.own.Entered || len(p.out.Sends) != len(p.own.Sends) || !reflect.DeepEqual(p.out.Notices, p.own.Notices) {
		p.fail(self, "%+v: the twin wants something else done", in)
	}
	denied := slices.ContainsFunc(p.out.Notices, func(n host.Notice) bool { return n.Kind == host.Denied })
	if (p.out.Entered || denied) && p.phase[self] != waiting {
		p.fail(self, "%+v: it entered or was denied, but had not asked", in)
	}
	if p.out.Entered {
		p.phase[self] = inside
	} else if denied {
		p.phase[self] = idle
	}
	for i, s := range p.out.Sends {
		b := p.out.Bytes(i)
		if s.To < 0 || int(s.To) >= p.n || s.To == self {
			p.fail(self, "%+v: it sent to seat %d of %d", in, s.To, p.n)
		}
		if int(s.Kind) >= len(p.spec.Kinds) || b[0] != s.Kind {
			p.fail(self, "%+v: it sent a message of kind %d with the bytes %v", in, s.Kind, b)
		}
		if t := p.own.Sends[i]; t.To != s.To || t.Group != s.Group || !bytes.Equal(p.own.Bytes(i), b) {
			p.fail(self, "%+v: the twin sends something else", in)
		}
		if len(p.flight) < 200 {
			p.flight = append(p.flight, letter{self, s.To, bytes.Clone(b)})
		}
	}
	for _, n := range p.out.Notices {
		if anew := (timer{self, n.Timer}); n.Kind == host.SetTimer && !slices.Contains(p.timers, anew) {
			p.timers = append(p.timers, anew)
		}
	}
}

func (p *play) fail(self algorithm.ID, format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s: %v of %d: %s", p.spec.Name, self, p.n, fmt.Sprintf(format, args...))
}

// FuzzMessage plays scripts with every algorithm: proper runs with any bytes
// from any sender in between.
func FuzzMessage(f *testing.F) {
	specs := everything(f)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range specs {
		for range 3 {
			b := randomBytes(r, 300)
			b[0] = byte(i)
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := script(b)
		if p := cast(t, &s, specs); p != nil {
			p.run(s)
		}
	})
}

// TestScripts plays more scripts than the seeds of FuzzMessage, always the same.
func TestScripts(t *testing.T) {
	nightly.Only(t)
	specs := everything(t)
	for i := range specs {
		t.Run(specs[i].Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(i)))
			played := 0
			for range 300 {
				s := script(randomBytes(r, 400))
				if p := cast(t, &s, specs[i:i+1]); p != nil {
					p.run(s)
					played++
				}
			}
			if played == 0 {
				t.Errorf("it takes no group of up to %d", maxSeats)
			}
		})
	}
}

// FuzzState loads any bytes into every algorithm: what loads has no other
// bytes.
func FuzzState(f *testing.F) {
	specs := everything(f)
	for i, spec := range specs {
		for n := 1; n <= maxSeats; n++ {
			if ms, err := spec.Group(algorithm.View{N: n, Busy: n%2 == 0}); err == nil {
				f.Add(byte(i), byte(n-1), ms[n-1].AppendState(nil))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which, size byte, b []byte) {
		spec := specs[int(which)%len(specs)]
		n := 1 + int(size)%maxSeats
		m, err := spec.New(algorithm.ID(n-1), algorithm.View{N: n})
		if err != nil || m.LoadState(b) != nil {
			return
		}
		if again := m.AppendState(nil); !bytes.Equal(again, b) {
			t.Errorf("%s among %d: state %v loads, and is encoded as %v", spec.Name, n, b, again)
		}
		m.Describe()
	})
}

// everything returns all algorithms, and one made of two.
func everything(t testing.TB) []algorithm.Spec {
	both, err := Make("central+bully", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(All(), Elections(), []algorithm.Spec{both})
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
