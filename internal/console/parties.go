package console

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// A party is a process that holds a lock, waits for one, or held one.
type party struct {
	Who      string `json:"who"`
	Identity string `json:"identity,omitempty"`
	Label    string `json:"label,omitempty"`
	Node     string `json:"node"`
	Session  string `json:"session,omitempty"` // in hexadecimal, as in who: numbers of this size are inexact in a browser
}

func partyOf(p *node.Party, at string) party {
	return party{p.Who, p.Identity, p.Label, at, sessionOf(p.Session)}
}

// sessionOf returns the number of a session as text; empty for the node's own process.
func sessionOf(session uint64) string {
	if session == 0 {
		return ""
	}
	return strconv.FormatUint(session, 16)
}

// A demand is what a request for a kept lock has.
type demand struct {
	Mode  string `json:"mode,omitempty"` // exclusive, shared or units
	Units int    `json:"units,omitempty"`
	Of    int    `json:"of,omitempty"`
	Tx    uint64 `json:"tx,omitempty"`
}

func demandOf(d *node.Demand) demand {
	out := demand{d.Mode, d.Units, d.Of, d.Tx}
	switch {
	case d.Units > 0:
		out.Mode = "units"
	case d.Tx > 0:
		out.Mode = cmp.Or(d.Mode, deadlock.Exclusive.String())
	}
	return out
}

// A holder holds a lock.
type holder struct {
	party
	demand
	Token string `json:"token"`
	Since int64  `json:"since_ms"`
	Until int64  `json:"lease_until_ms"`
	Value string `json:"value,omitempty"`

	Delegated bool `json:"delegated,omitempty"` // it acquires the lock by itself: Token is that of its first entry
}

func (m *moments) holder(lock string, h *survey.Holder) holder {
	key := lock + "\x00" + h.Node + "\x00" + h.Token
	return holder{
		partyOf(&h.Party, h.Node), demandOf(&h.Demand), h.Token,
		m.ago(key+"\x00since", h.Held), m.ago(key+"\x00until", -h.Left), h.Value, h.Delegated,
	}
}

// A waiter waits for a lock.
type waiter struct {
	party
	demand
	Since int64  `json:"since_ms"`
	Why   string `json:"why"`
}

func (m *moments) waiter(lock, key string, w *survey.Waiter) waiter {
	return waiter{partyOf(&w.Party, w.Node), demandOf(&w.Demand), m.ago(lock+"\x00"+key, w.Waited), w.Why}
}

// keys make keys of what a document lists: those of the same party are numbered.
type keys map[string]int

func (k keys) of(w *survey.Waiter) string {
	key := fmt.Sprintf("%s/%s/%d", w.Node, sessionOf(w.Session), w.Tx)
	k[key]++
	if n := k[key]; n > 1 {
		key += fmt.Sprintf("/%d", n)
	}
	return key
}

// holdersOf returns all holders of a lock, the first one first.
func holdersOf(l *survey.Lock) []survey.Holder {
	if l.Holder == nil {
		return nil
	}
	return append([]survey.Holder{*l.Holder}, l.Shared...)
}
