package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/member"
)

// Frame says what a frame between members says, besides its kind and the lock.
func Frame(f *member.FrameInfo) string {
	tx := fmt.Sprintf("transaction %d of member %d", f.Who.Tx, f.Who.Origin)
	request := fmt.Sprintf("request %d of %s", f.Who.Seq, tx)
	switch f.Kind {
	case "REPORT":
		return fmt.Sprintf("holds %s, waits for %s", list(f.Held), list(f.Waits))
	case "QUERY":
		return list(f.Asked)
	case "ANSWER":
		var all []string
		for _, x := range f.May {
			all = append(all, fmt.Sprintf("%s: %d may be inside", x.Name, x.Inside))
		}
		return list(all)
	case "LEND":
		return "until " + f.Until.String()
	case "RETURN":
		if f.Next != (member.Stamp{}) {
			return "next " + f.Next.String()
		}
	case "BUSY":
		if f.Again {
			return "recovering"
		}
	case "CLAIM":
		return "token " + f.Token.String()
	case "CLAIMED":
		return refusal(f)
	case "WANT":
		return request + ", " + f.Mode.String()
	case "GRANT":
		return request + ", token " + f.Token.String()
	case "MOVE":
		return request + ", " + f.Mode.String() + ", token " + f.Token.String()
	case "MOVED":
		return strings.TrimSuffix(request+", "+refusal(f), ", ")
	case "DOOM":
		return tx + ": " + f.Victim.String()
	case "PATH":
		return fmt.Sprintf("%d transactions", f.Path)
	case "GRAPH":
		return fmt.Sprintf("%d edges", f.Arcs)
	case "REFUSE", "END", "WAITS", "WAITED", "CONFIRM", "CONFIRMED":
		return request
	}
	return ""
}

func refusal(f *member.FrameInfo) string {
	switch {
	case f.Passed:
		return "refused: passed on"
	case f.Refused:
		return "refused"
	}
	return ""
}

func list(all []string) string { return cmp.Or(strings.Join(all, ", "), "nothing") }
