package measure

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// T is the mean latency of a message: one tick of the kernel is a nanosecond.
const T = scenario.T

// What happens besides messages.
const (
	wakes    = kernel.Own + iota // a member is to be woken
	confirms                     // a renewal of a member is confirmed
	installs                     // a member hears of the view
	asks                         // an application asks
	leaves                       // an application lets go
)

// A fleet is members on the kernel, and what they carry to each other. A member
// is known by its place, which is one less than its incarnation.
type fleet struct {
	*kernel.Kernel
	members []*member.Member
	view    member.View // the last that was committed
	epochs  []uint64    // which one each member is in
	early   [][]letter  // what came for a view that a member has not heard of yet
	woken   []int64     // when each member is woken next
	renewed []int64     // when the service last heard of each
	dead    int         // the place of the member that has died, or -1
	frames  int64       // that were sent
	carried []int64     // frames that each member has sent or got
	held    func(place int, e member.Event)
	err     error
}

// A letter is a frame that came early.
type letter struct {
	from, to core.ID
	epoch    uint64
	bytes    []byte
}

// newFleet makes members with a view of the first n of them; the others may join
// later. A spec stands for itself at every member.
func newFleet(spec core.Spec, n, more int, latency scenario.Dist, seed uint64) (*fleet, error) {
	f := &fleet{dead: -1, held: func(int, member.Event) {}}
	all := n + more
	f.Kernel = kernel.New(kernel.Config{Processes: all, Latency: latency, Network: core.FIFO, Seed: seed}, f)
	f.early, f.epochs, f.carried = make([][]letter, all), make([]uint64, all), make([]int64, all)
	f.woken, f.renewed = make([]int64, all), make([]int64, all)
	f.view = member.View{Epoch: 1, Choices: []member.Choice{{Algorithm: spec.Name, Version: spec.Version}}}
	for i := range all {
		m, err := member.New(member.Config{Inc: uint64(i + 1), Settings: member.Usual(), Spec: func(string, int) (core.Spec, error) { return spec, nil }})
		if err != nil {
			return nil, err
		}
		f.members = append(f.members, m)
		f.woken[i] = int64(member.Never)
		if i < n {
			f.view.Members = append(f.view.Members, member.Who{Name: fmt.Sprint("m", i+1), Inc: m.Inc})
		}
	}
	for i := range n {
		f.install(i)
	}
	return f, f.err
}

func (f *fleet) now() member.Instant { return member.Instant(f.Now()) }

// fail notes the first thing that went wrong.
func (f *fleet) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// next begins the view after the present one, without some members.
func (f *fleet) next(without ...uint64) member.View {
	v := member.View{Epoch: f.view.Epoch + 1, BeforeEpoch: f.view.Epoch, Choices: f.view.Choices}
	for _, m := range f.view.Members {
		if v.Before = append(v.Before, m.Inc); !slices.Contains(without, m.Inc) {
			v.Members = append(v.Members, m)
		}
	}
	return v
}

// commit has the members of a view told of it, each after a latency.
func (f *fleet) commit(v member.View, r *kernel.Rand, latency scenario.Dist) {
	f.view = v
	for _, m := range v.Members {
		f.At(f.Now()+r.Sample(latency), installs, core.ID(m.Inc-1), 0)
	}
}

// install lets a member be in the view that was committed last.
func (f *fleet) install(i int) {
	if err := f.members[i].Install(f.now(), f.view); err != nil {
		f.fail(err)
		return
	}
	f.epochs[i] = f.view.Epoch
	f.take(i)
	early := f.early[i]
	f.early[i] = nil
	for _, l := range early {
		f.hand(l)
	}
}

// take does what a member wants done.
func (f *fleet) take(i int) {
	m := f.members[i]
	if m.Bulk() {
		for _, o := range f.members {
			for m.More(f.now(), o.Inc) {
			}
		}
	}
	for _, x := range m.Out.Frames {
		f.frames++
		f.carried[i]++
		f.Send(core.ID(i), core.ID(x.To-1), f.Keep(x.Bytes, 0, kernel.Tag(f.epochs[i]), 1))
	}
	if m.Out.Renew != 0 {
		f.At(f.Now()+2*T, confirms, core.ID(i), int(m.Out.Renew))
	}
	if wake := int64(m.Out.Wake); wake < f.woken[i] {
		f.woken[i] = wake
		f.At(wake, wakes, core.ID(i), 0)
	}
	events := slices.Clone(m.Out.Events)
	m.Out.Reset()
	for _, e := range events {
		f.held(i, e)
	}
}

// tick lets one of the fleet's own events happen.
func (f *fleet) tick(e *kernel.Event) {
	i := int(e.Proc())
	if i == f.dead {
		return
	}
	switch m := f.members[i]; e.Kind {
	case wakes:
		if f.woken[i] == f.Now() {
			f.woken[i] = int64(member.Never)
			m.Wake(f.now())
			f.take(i)
		}
	case confirms:
		f.renewed[i] = f.Now() - T
		m.Renewed(f.now(), uint64(e.Arg()))
		f.take(i)
	case installs:
		f.install(i)
	}
}

// Deliver hands over a frame that has come.
func (f *fleet) Deliver(from, to core.ID, slot int32) {
	if int(to) != f.dead {
		s := f.Slot(slot)
		f.hand(letter{from, to, uint64(s.Tag), s.Bytes})
	}
}

// hand hands a frame to a member: one of an older view is of no use any more, one
// of a newer view is kept until the member is in it.
func (f *fleet) hand(l letter) {
	i := int(l.to)
	switch own := f.epochs[i]; {
	case l.epoch < own:
		return
	case l.epoch > own:
		l.bytes = slices.Clone(l.bytes)
		f.early[i] = append(f.early[i], l)
		return
	}
	f.carried[i]++
	if err := f.members[i].Deliver(f.now(), uint64(l.from)+1, l.bytes); err != nil {
		f.fail(fmt.Errorf("m%d to m%d: %w", l.from+1, l.to+1, err))
		return
	}
	f.take(i)
}

// Expired is not used: members say themselves when to wake them.
func (f *fleet) Expired(core.ID, kernel.Timer, kernel.Tag) {}

// Believed is not used: views say who is there.
func (f *fleet) Believed(core.ID, core.ID) {}

// Called is not used: nobody looks.
func (f *fleet) Called(*kernel.Slot) string { return "" }

// Describe is not used: nobody looks.
func (f *fleet) Describe(*trace.Event, *kernel.Slot) {}
