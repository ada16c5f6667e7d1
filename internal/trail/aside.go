package trail

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/words"
)

// Captions: what the algorithm does not see.

// mostAsides is how many captions there are between two steps. There can be thousands of
// handovers.
const mostAsides = 6

// aside notes what the algorithm does not see.
func (b *builder) aside(e *event) {
	if text := b.words(e); text != "" {
		b.asides = append(b.asides, text)
	}
}

// flush writes the captions since the last step.
func (b *builder) flush() {
	rest := 0
	if n := len(b.asides); n > mostAsides {
		rest = n - mostAsides
		b.asides = append(b.asides[:mostAsides/2], b.asides[n-mostAsides/2:]...)
	}
	for i, text := range b.asides {
		if rest > 0 && i == mostAsides/2 {
			b.say(`say "and %s, of which the algorithm sees nothing"`, words.Plural(rest, "more event"))
		}
		b.say(`say "%s"`, plain(text))
	}
	b.asides = b.asides[:0]
}

// words says what happened, in a sentence for the audience.
func (b *builder) words(e *event) string {
	k, who := e.mark, fmt.Sprintf("%v (%s)", e.seat, b.called(e.seat))
	token := ""
	if k.Token != nil {
		token = ", token " + k.Token.String()
	}
	switch k.Kind {
	case member.MarkQueued:
		return who + ": a request begins to wait"
	case member.MarkLeft:
		return who + ": a request no longer waits"
	case member.MarkReleased:
		return who + ": the holder releases the lock" + token
	case member.MarkCleared:
		return who + ", the home, releases the lock: from now on only the algorithm decides"
	case member.MarkGranted:
		switch k.How {
		case member.ByHandover:
			return who + ": the lock is handed to the next request here, without a message" + token
		case member.ByHome:
			return who + ": a request acquires the lock, which the home has not released in this view" + token
		case member.ByLoan:
			return who + ": a request acquires the lock, which the home has lent" + token
		}
		return who + ": a request acquires the lock" + token
	case member.MarkFrame:
		if k.Sent && k.Peer >= 0 {
			return fmt.Sprintf("%s sends %s to %v, which is no message of the algorithm", who, k.How, k.Peer)
		}
	}
	return ""
}

// called returns the name of a member.
func (g *group) called(seat algorithm.ID) string {
	return shortened(g.name(seat))
}

// longest is the maximum length of a name in a text.
const longest = 80

// shortened returns a name, not too long.
func shortened(s string) string {
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return s
}

// plain returns a text that a line of a scenario can have: one line, and nothing that begins
// a comment.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		case r == '#':
			return '＃' // of full width: it begins no comment
		case r == '"':
			return '\''
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
