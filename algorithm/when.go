package algorithm

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm/host"
)

// When describes in words that a machine of the algorithm takes an input, such as "when
// it gets OK of P2".
func (s Spec) When(in host.Input) string {
	peer, who, requests, releases := in.From.String(), "its application", "requests", "releases"
	if s.Family == Transactions {
		peer, who = fmt.Sprintf("site %d", in.From+1), in.From.String()
		requests, releases = fmt.Sprintf("requests L%d", in.Arg+1), "commits"
	}
	switch in.Kind {
	case host.Start:
		return "when it starts"
	case host.Request:
		return "when " + who + " " + requests
	case host.Release:
		return "when " + who + " " + releases
	case host.Receive:
		kind := "nothing"
		if len(in.Bytes) > 0 {
			kind = called(s.Kinds, in.Bytes[0])
		}
		return "when it receives " + kind + " from " + peer
	case host.Expire:
		return fmt.Sprintf("when timer %d expires", in.Timer)
	case host.Suspect:
		return "when it is notified that " + peer + " is dead"
	case host.Hear:
		return "when it hears of another clock"
	case host.Claim:
		return fmt.Sprintf("when %s claims L%d", who, in.Arg+1)
	case host.Abort:
		return "when " + who + " aborts"
	case host.Trust:
		return "when it is notified that " + peer + " is back"
	}
	return fmt.Sprintf("on input %d", in.Kind)
}
