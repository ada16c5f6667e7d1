package script

import (
	"strings"
	"unicode"

	"github.com/stile-lock/stile/internal/spell"
)

// slips are words that users write by mistake for others.
var slips = [...]struct{ wrong, right string }{
	{"process", "processes"}, {"nodes", "processes"}, {"procs", "processes"}, {"n", "processes"},
	{"name", "title"}, {"token", "holder"}, {"expects", "expect"}, {"tree", "topology"}, {"quorums", "sets"},
	{"delays", "delay"}, {"lose", "drop"}, {"cut", "partition"}, {"kill", "crash"}, {"dup", "duplicate"},
	{"requests", "asks"}, {"request", "asks"}, {"wants", "asks"}, {"enters", "asks"}, {"locks", "asks"}, {"ask", "asks"},
	{"exits", "leaves"}, {"releases", "leaves"}, {"unlocks", "leaves"}, {"leave", "leaves"}, {"exit", "leaves"},
	{"dies", "crashes"}, {"stops", "pauses"}, {"order", "entries"}, {"enter", "entries"}, {"message", "messages"},
	{"waiting", "waits"}, {"wait", "waits"}, {"in", "inside"}, {"mutex", "mutual-exclusion"}, {"exclusion", "mutual-exclusion"},
	{"asks", "takes"}, {"locks", "takes"}, {"take", "takes"}, {"gets", "takes"}, {"sites", "site"}, {"homes", "site"}, {"retry", "backoff"},
	{"continues", "goes"}, {"proceeds", "goes"}, {"go", "goes"}, {"commits", "goes"}, {"retries", "goes"},
	{"deadlock", "deadlocks"}, {"entries", "commits"}, {"committed", "commits"}, {"commit", "commits"}, {"ends", "commits"},
	{"aborted", "aborts"}, {"abort", "aborts"}, {"victim", "aborts"}, {"cycles", "cycle"}, {"ring", "cycle"},
	{"safety", "mutual-exclusion"}, {"ME1", "mutual-exclusion"}, {"ME2", "lost-request"}, {"ME3", "order"}, {"liveness", "lost-request"},
}

// didYouMean suggests a similar word, if there is one.
func didYouMean(found string, words ...string) string {
	for _, s := range slips {
		if s.wrong != found {
			continue
		}
		for _, w := range words {
			if w == s.right {
				return "; did you mean " + w + "?"
			}
		}
	}
	return spell.DidYouMean(found, words...)
}

func timeHint(found string) string {
	switch {
	case strings.HasPrefix(found, "-"):
		return "; time starts at 0"
	case strings.Contains(found, ",") && !strings.Contains(found, ":"):
		return "; use a decimal point"
	case strings.HasPrefix(found, "."):
		return "; write 0" + found
	case found != "" && unicode.IsLetter(rune(found[len(found)-1])) && unicode.IsDigit(rune(found[0])):
		return "; times have no unit: 1 is one message latency"
	}
	return ""
}

func smallP(found string) string {
	if strings.HasPrefix(found, "p") && len(found) > 1 {
		return "; the P must be a capital"
	}
	return ""
}

// arrowHint helps with arrows written in another way.
func arrowHint(found string) string {
	for _, arrow := range []string{"=>", "→", "-", ">", "to"} {
		if strings.Contains(found, arrow) {
			return "; write an arrow as ->"
		}
	}
	return ""
}
