package model

import (
	"encoding/binary"

	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// Fair actions, and what becomes of them in a step. On an unordered network each message
// in flight is an action of its own. It is called by all that a state says about it, and
// a step changes that: logical times and counters are renumbered, marks are forgotten,
// and time passes. What a step does to one message it does to all that are called alike,
// so a renaming is a function of names. Messages that are called alike in one state are
// interchangeable.

// A class is a fair action that is more than its kind and the two processes: a message on
// an unordered network, or a timer.
type class struct {
	label uint32
	what  uint32 // content of the message, and in the lowest bit its age; or the timer, and whether it was set anew
	tag   family.Tag
}

// arrival returns the class of the delivery of a message.
func (w *worker) arrival(m *message) class {
	from, to := w.ends(m)
	k := class{label(doDeliver, to, from, 0), m.blob << 1, m.tag}
	if m.old {
		k.what |= 1
	}
	return k
}

// firstClass is above all labels that serve as classes themselves.
const firstClass = 1 << 24

// classOf numbers a class.
func (w *worker) classOf(k class) uint32 {
	n, ok := w.classes[k]
	if !ok {
		n = firstClass + uint32(len(w.named))
		w.classes[k] = n
		w.named = append(w.named, k)
	}
	return n
}

// A renaming is what a step changes about the messages that stay in flight.
type renaming struct {
	mapping uint32 // 1 + the number of the mapping; 0 if numbers stay
	aged    bool   // a unit of time passes
	tags    string // tags that change, and what they become
}

// moreThanNumbers marks the number of a renaming that changes more than numbers.
const moreThanNumbers = 1 << 31

// renaming numbers what the step that was just made changes, if m renumbers the state
// after it.
func (w *worker) renaming(m *mapping, s *explore.Step) uint32 {
	var numbers uint32
	if m != nil && !m.same {
		numbers = m.id + 1
	}
	aged := moveOf(s.Label).kind == doTick
	if !aged && len(w.retags) == 0 {
		return numbers
	}
	r := renaming{numbers, aged, w.retagged()}
	if !aged && r.tags == "" {
		return numbers
	}
	n, ok := w.renamings[r]
	if !ok {
		n = moreThanNumbers | uint32(len(w.renamed))
		w.renamings[r] = n
		w.renamed = append(w.renamed, r)
	}
	return n
}

// retagged returns which tags of messages the step that was just made changes.
func (w *worker) retagged() string {
	w.keyBuf = w.keyBuf[:0]
	for i := range w.from.messages {
		old := w.from.messages[i].tag
		now := old
		for _, f := range w.retags {
			now = f(now)
		}
		if now != old {
			w.keyBuf = binary.BigEndian.AppendUint32(w.keyBuf, uint32(old))
			w.keyBuf = binary.BigEndian.AppendUint32(w.keyBuf, uint32(now))
		}
	}
	return string(w.keyBuf)
}

// Renamed implements explore.Renames.
func (w *worker) Renamed(number, action uint32) uint32 {
	if action < firstClass {
		return action
	}
	k := w.named[action-firstClass]
	if moveOf(k.label).kind != doDeliver {
		return action
	}
	r := renaming{mapping: number}
	if number&moreThanNumbers != 0 {
		r = w.renamed[number&^moreThanNumbers]
	}
	if r.mapping > 0 {
		k.what = w.rename(k.what>>1, w.mappings[r.mapping-1])<<1 | k.what&1
	}
	if r.aged {
		k.what |= 1
	}
	for tags := []byte(r.tags); len(tags) > 0; tags = tags[8:] {
		if binary.BigEndian.Uint32(tags) == uint32(k.tag) {
			k.tag = family.Tag(binary.BigEndian.Uint32(tags[4:]))
			break
		}
	}
	return w.classOf(k)
}

// Renames reports whether steps may change the classes of fair actions.
func (m *Model) Renames() bool { return !m.ordered() }
