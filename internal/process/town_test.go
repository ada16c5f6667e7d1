package process

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/engine/raft"
	"github.com/stile-lock/stile/internal/member"
)

const ms = member.Instant(member.Millisecond)

// A town is a few processes, their disks and the network between them.
type town struct {
	t      *testing.T
	now    member.Instant
	houses []*house
	mail   []mail
}

type mail struct {
	at       member.Instant
	from, to string
	bytes    []byte
}

// A house is one process, its disk and its applications.
type house struct {
	*Process
	w     *town
	name  string
	disk  raft.Memory
	saves []save
	slow  member.Instant // how long its disk takes
	down  bool
	held  map[member.Ticket]member.Token
	lost  []member.Event
	ended []engine.Ending
	views []uint64
	fails error
	log   []string
}

type save struct {
	at     member.Instant
	number uint64
	erase  bool
	bytes  []byte
}

func settings() member.Settings {
	return member.Settings{Lease: 200 * member.Millisecond, Renew: 40 * member.Millisecond, Drift: 1000, Act: 10, Handover: 4, ViewLife: 20 * member.Millisecond}
}

func newTown(t *testing.T, n int) *town {
	w := &town{t: t, now: 1000 * ms}
	for i := range n {
		w.houses = append(w.houses, &house{w: w, name: fmt.Sprint("n", i+1), held: map[member.Ticket]member.Token{}})
	}
	for _, h := range w.houses {
		h.boot(h == w.houses[0])
	}
	return w
}

// boot starts a process, with what is on its disk.
func (h *house) boot(found bool) {
	w := h.w
	state, err := raft.Read(&h.disk)
	if err != nil {
		w.t.Fatal(err)
	}
	c := Config{
		Begin: Begin{Name: h.name, Address: h.name, State: state, Settings: settings()},
		Logs:  raft.Logs{Election: Election, Heartbeat: Heartbeat, MaxLog: 64},
		Spec:  catalog.MakeLive,
	}
	c.Seed[0], c.Seed[1] = h.name[1], byte(len(h.ended))
	for _, o := range w.houses {
		if o != h {
			c.Contacts = append(c.Contacts, o.name)
		}
	}
	if found {
		usual := catalog.Live()[0]
		c.Found = &Founding{Cluster: 1, Epoch: 1, Settings: settings(), Voters: 3, Choices: []member.Choice{{Algorithm: usual.Name, Version: usual.Version}}}
	}
	if h.Process, err = New(c); err != nil {
		w.t.Fatal(err)
	}
	h.down = false
	h.step(Input{Kind: Start})
	for _, o := range w.houses {
		if o != h {
			h.step(Input{Kind: Up, Text: o.name})
		}
	}
}

func (h *house) step(in Input) {
	in.At = h.w.now
	h.Step(&in)
	h.carryOut()
}

func (h *house) carryOut() {
	w := h.w
	for i := range h.Out.Effects {
		switch e := &h.Out.Effects[i]; e.Kind {
		case Notify:
			h.log = append(h.log, fmt.Sprint(e.Event))
			switch e.Event.Kind {
			case member.Held:
				h.held[e.Event.Ticket] = e.Event.Token
			default:
				delete(h.held, e.Event.Ticket)
				h.lost = append(h.lost, e.Event)
			}
		case View:
			h.views = append(h.views, e.Record.Epoch)
		case Ended:
			h.ended = append(h.ended, e.How)
		case Send:
			w.mail = append(w.mail, mail{w.now + ms, h.name, e.To, append([]byte(nil), e.Bytes...)})
		case Save, Erase:
			h.saves = append(h.saves, save{w.now + h.slow, e.Number, e.Kind == Erase, e.Bytes})
		case Failed:
			h.fails, h.down = e.Err, true
		}
	}
}

// pass lets time pass, a millisecond at a time.
func (w *town) pass(d member.Instant) {
	for end := w.now + d; w.now < end; w.now += ms {
		due := w.mail
		w.mail = nil
		for _, m := range due {
			if m.at > w.now {
				w.mail = append(w.mail, m)
				continue
			}
			for _, h := range w.houses {
				if h.name == m.to && !h.down {
					h.step(Input{Kind: Message, Text: m.from, Bytes: m.bytes})
				}
			}
		}
		for _, h := range w.houses {
			for !h.down && len(h.saves) > 0 && h.saves[0].at <= w.now {
				s := h.saves[0]
				h.saves = h.saves[1:]
				var err error
				if s.erase {
					err = h.disk.Erase()
				} else {
					err = raft.Write(&h.disk, s.bytes)
				}
				in := Input{Kind: Saved, Number: s.number}
				if err != nil {
					in.Text = err.Error()
				}
				h.step(in)
			}
			if !h.down && h.Out.Wake <= w.now {
				h.step(Input{Kind: Wake})
			}
		}
	}
}

func TestSmoke(t *testing.T) {
	w := newTown(t, 3)
	w.pass(1000 * ms)
	for _, h := range w.houses {
		if h.Phase() != Member || len(h.Record().Members) != 3 || h.Voter() == nil || h.fails != nil {
			t.Fatalf("%s: %v, %d members, %v", h.name, h.Phase(), len(h.Record().Members), h.fails)
		}
	}
	for range 3 {
		for _, h := range w.houses {
			h.step(Input{Kind: Lock, Text: "x"})
			if h.Out.Err != nil {
				t.Fatal(h.Out.Err)
			}
			tk := h.Out.Ticket
			w.pass(20 * ms)
			if _, ok := h.held[tk]; !ok {
				t.Fatalf("%s does not hold it: %v", h.name, h.log)
			}
			h.step(Input{Kind: Unlock, Text: "x", Token: h.held[tk]})
			if h.Out.Err != nil {
				t.Fatal(h.Out.Err)
			}
		}
	}
	for i := len(w.houses) - 1; i >= 0; i-- {
		h := w.houses[i]
		h.step(Input{Kind: Leave})
		w.pass(1000 * ms)
		if h.Phase() != Over || len(h.ended) != 1 || h.ended[0] != engine.Left {
			t.Fatalf("%s: %v %v", h.name, h.Phase(), h.ended)
		}
	}
}
