package storm

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/trace"
)

// A StruckFault is a strike that did happen, in words: only the run knows which process it
// hit.
type StruckFault struct {
	At   member.Span
	Kind string
	Text string
}

// recount describes a strike that has hit a process, to the observer of the run.
func (w *world) recount(s *Strike, id algorithm.ID) {
	if w.Observed() {
		w.Note(trace.Event{
			Kind: trace.Note, Proc: id, Peer: algorithm.None, Name: w.inWords(s, id),
			Fields: []host.Field{{Name: faultField, Value: s.Kind.String()}},
		})
	}
}

// faultField is the field of notes that describe a strike.
const faultField = "fault"

// StruckFaults returns the strikes that happened in a recorded run.
func StruckFaults(t *trace.Trace) []StruckFault {
	var all []StruckFault
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.Note && len(e.Fields) > 0 && e.Fields[0].Name == faultField {
			all = append(all, StruckFault{member.Span(e.At), e.Fields[0].Value, e.Name})
		}
	}
	return all
}

// inWords describes what a strike did.
func (w *world) inWords(s *Strike, id algorithm.ID) string {
	who, peer := w.Name(id), w.Name(w.procs[s.Peer%len(w.procs)].id)
	long := fmt.Sprintf("%.1f ms", float64(s.For)/float64(ms))
	switch s.Kind {
	case Crash:
		return who + " crashes and restarts after " + long
	case Pause:
		return who + " is paused for " + long
	case Jump:
		return fmt.Sprintf("%s is suspended for %s, and gets %s first", who, long, [...]string{"its timer", "messages"}[s.Peer%2])
	case Late:
		return fmt.Sprintf("the timers of %s fire late for %s", who, long)
	case Garble:
		return fmt.Sprintf("%s of the messages from %s are malformed for %s", percent(w.network.garble[id]), who, long)
	case Loss:
		return fmt.Sprintf("%s of all packets are lost for %s", percent(w.network.loss), long)
	case Delay:
		what := "of all packets"
		if w.network.lateViews {
			what = "of the messages about views"
		}
		return fmt.Sprintf("%s %s are late for %s", percent(w.network.late), what, long)
	case Duplicate:
		return fmt.Sprintf("%s of all packets are duplicated for %s", percent(w.network.twice), long)
	case Break:
		if who == peer {
			return fmt.Sprintf("all connections of %s break for %s", who, long)
		}
		return fmt.Sprintf("the connection between %s and %s breaks for %s", who, peer, long)
	case Oneway, Partition:
		return w.tellCut(s, who, peer) + " for " + long
	case Sever:
		return fmt.Sprintf("%s and %s are disconnected from now on", who, peer)
	case Slow:
		return fmt.Sprintf("messages from %s take %d ms longer for %s", who, w.network.slow[id]/ms, long)
	case Drift, Beyond:
		return fmt.Sprintf("the clock of %s drifts by %+.1f %% from now on", who, float64(w.procOf(id).clock.rate)/(million/100))
	}
	return w.tellChange(s, who, long)
}

// tellCut describes which processes do not hear each other.
func (w *world) tellCut(s *Strike, who, peer string) string {
	how := s.How / 2
	if s.Kind == Oneway {
		switch how % 4 {
		case 0:
			return "messages from " + who + " do not reach the view service"
		case 1:
			return "messages from the view service do not reach " + who
		}
		return "messages from " + who + " do not reach " + peer
	}
	switch how % cutKinds {
	case cutPair:
		return fmt.Sprintf("%s and %s are disconnected", who, peer)
	case cutService:
		return who + " is disconnected from the view service"
	case cutMembers:
		return who + " is disconnected from all other members"
	case cutSplit:
		return fmt.Sprintf("all processes up to %s are disconnected from those after it", who)
	}
	return who + " is disconnected from all others"
}

// tellStop describes a stop.
func (w *world) tellStop(s *Strike, who, long string) string {
	if s.How%5 == 0 && !w.Shelter {
		who = "every member, among them " + who + ","
	}
	text := fmt.Sprintf("%s stops and returns %s later", who, long)
	if s.How%3 == 0 {
		text += ", or crashes then if it has not stopped"
	}
	return text
}

// tellChange describes how the members, their views or their clients change.
func (w *world) tellChange(s *Strike, who, long string) string {
	switch s.Kind {
	case Join:
		return fmt.Sprintf("%s joins and leaves after %s", w.Name(w.procs[w.Nodes+s.Who%spare].id), long)
	case Leave:
		return fmt.Sprintf("%s leaves and returns %s later", who, long)
	case Roll:
		return fmt.Sprintf("%s stops and returns %s later", who, long)
	case Stop:
		return w.tellStop(s, who, long)
	case Gone:
		if s.How/2%2 == 0 {
			return fmt.Sprintf("%s leaves, and crashes %s later if it has not left by then", who, long)
		}
		return who + " leaves and does not return"
	case Release:
		return "an operator takes a lock from the application or client that holds it through " + who
	case Move:
		return "an operator asks a client of " + who + " to use another node"
	case Stall:
		if s.How%3 == 0 {
			return fmt.Sprintf("the disk of %s is slow for %s", who, long)
		}
		return fmt.Sprintf("the disk of %s writes nothing for %s", who, long)
	case Evict:
		return fmt.Sprintf("the view service evicts %s, which is healthy", who)
	case Skip:
		text := fmt.Sprintf("%d views follow each other quickly", w.orders.hurry)
		if w.network.skipper != algorithm.None {
			text += ", and none reaches " + who
		}
		return text
	case Switch:
		var names []string
		for _, c := range w.orders.next {
			names = append(names, c.Algorithm)
		}
		return "the view service changes to " + strings.Join(names, ", ")
	case Forget:
		return "a view of the same members drops idle names"
	case Lead:
		return who + ", whose voter leads," + [...]string{" crashes and restarts after ", " is paused for ", " is disconnected from all others for "}[s.How%3] + long
	case Restore:
		return w.tellDisaster(s)
	case Rollback:
		if s.How%4 == 3 {
			return "all processes crash, and the disks of most voters are replaced by older copies"
		}
		return fmt.Sprintf("%s crashes and starts again after %s, from an older copy of its disk", who, long)
	case Return:
		return fmt.Sprintf("%s crashes and starts again with the disk that it had in an earlier cluster, for at most %s if the cluster needs its own", who, long)
	case Wipe:
		return who + " crashes, its disk is lost, and it is back after " + long
	case Broken:
		return "the disk of " + who + [...]string{" will be full", " will not sync", " will stop while it is written", " rots"}[s.How%4]
	}
	how := s.How / 2 % clientFaults
	if how == 3 {
		return "the connection of " + who + " breaks"
	}
	return who + [...]string{" is paused for ", " is disconnected from all others for ", " crashes and restarts after "}[how] + long
}

func percent(thousandths int64) string { return fmt.Sprintf("%.0f %%", float64(thousandths)/10) }
