package trace

import (
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/draw"
)

// Sentence describes the event in plain words.
func (e Event) Sentence() string { return e.sentence(algorithm.ID.String) }

// sentence describes the event, naming processes by what called returns. What a process
// of transactions does has a name: the lock it requests, the locks it has then, and how
// it ends.
func (e Event) sentence(called func(algorithm.ID) string) string {
	p, peer, name := called(e.Proc), called(e.Peer), draw.Clean(e.Name)
	section := draw.Clean(e.Section)
	message := strings.TrimSpace(section + " " + name)
	if f := e.said(); f != "" {
		message += " (" + f + ")"
	}
	switch e.Kind {
	case Ask:
		return p + " asks" + after(" for ", name+section) + "."
	case Enter:
		return p + either(name != "", " holds "+name, " enters") + after(" ", section) + "."
	case Exit:
		return p + either(name != "", " "+name, " leaves") + after(" ", section) + "."
	case Deny:
		return p + either(name != "", " "+name, " is denied") + after(" ", section) + "."
	case Send:
		return p + " sends " + message + " to " + peer + "."
	case Receive:
		return p + " receives " + message + " from " + peer + "."
	case Drop:
		return message + " from " + p + " to " + peer + " is lost."
	case Duplicate:
		return message + " from " + p + " to " + peer + " is duplicated."
	case Expire:
		return p + "'s timer expires."
	case Suspect:
		return p + " believes that " + peer + " is dead."
	case Trust:
		return p + " believes that " + peer + " is back."
	case Crash:
		return p + " crashes."
	case Restart:
		return p + " restarts."
	case Pause:
		return p + " is paused."
	case Resume:
		return p + " resumes."
	case Partition:
		return "The network is partitioned" + after(": ", name) + "."
	case Heal:
		return "The network is whole again."
	case Lead:
		if e.Peer == e.Proc {
			return p + " becomes the leader."
		}
		return p + " follows " + peer + "."
	case Abort:
		return p + " chooses " + peer + " to abort."
	case Violation:
		words := draw.Clean(e.Words)
		if words == "" && e.Proc != algorithm.None {
			words = p
		}
		return "VIOLATION of " + name + after(" in ", section) + after(": ", words) + "."
	case Note:
		if name != "" && !strings.HasSuffix(name, ".") {
			name += "."
		}
		if e.Proc == algorithm.None || strings.HasPrefix(name, p+" ") {
			return name
		}
		return p + ": " + name // it says something about another process
	}
	return e.Kind.String()
}

// said formats the fields of a message: time 1, clock 2.
func (e Event) said() string {
	var b strings.Builder
	for i, f := range e.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(draw.Clean(f.Name) + " " + draw.Clean(f.Value))
	}
	return b.String()
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// after returns the text with a mark before it, or nothing if the text is empty.
func after(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}
