package console

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// A reply is what a member answered, or why it did not.
type reply[T any] struct {
	member node.MemberInfo
	answer T
	at     time.Time // when the answer arrived
	err    error
}

// askAll asks all members the same question.
func askAll[T any](ctx context.Context, c Cluster, who node.Caller, members []node.MemberInfo, what uint64, query any) ([]reply[T], error) {
	about, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	all := make([]reply[T], len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			r := &all[i]
			r.member = m
			r.err = c.Ask(ctx, who, m, what, about, &r.answer)
			r.at = time.Now()
		})
	}
	wg.Wait()
	return all, ctx.Err()
}

// membersOf returns the status of the node, if it is a member.
func membersOf(c Cluster) (node.Status, error) {
	s := c.Status()
	if !s.Member() {
		return s, fmt.Errorf("node %s is not a member at present: use another node", s.Node)
	}
	return s, nil
}

// A silent is a member that did not answer.
type silent struct {
	Node string `json:"node"`
	Why  string `json:"why"`
}

// A silence collects the members that did not answer, each once.
type silence []silent

func (s *silence) add(all ...survey.Silent) {
	for _, x := range all {
		if !slices.ContainsFunc(*s, func(o silent) bool { return o.Node == x.Node }) {
			*s = append(*s, silent{x.Node, x.Why})
		}
	}
}

// addReplies adds the members that did not answer.
func addReplies[T any](s *silence, all []reply[T]) {
	for i := range all {
		if r := &all[i]; r.err != nil {
			s.add(survey.Silent{Node: r.member.Name, Why: r.err.Error()})
		}
	}
}

// maxNames bounds the names in a question, by their number and by their bytes as JSON.
const (
	maxNames     = 100
	maxNameBytes = 16 << 10
)

// named asks for locks by their names, which must be sorted.
func named(ctx context.Context, c Cluster, who node.Caller, names []string, q node.LockQuery, quiet *silence) (all []survey.Lock, err error) {
	for len(names) > 0 {
		n, size := 0, 0
		for n < min(len(names), maxNames) && (n == 0 || size+len(names[n]) <= maxNameBytes) {
			size += len(names[n])
			n++
		}
		q.Names, q.After = names[:n], ""
		for {
			page, next, err := c.Locks(ctx, who, q)
			if err != nil {
				return nil, err
			}
			quiet.add(page.Unasked...)
			all = append(all, page.Locks...)
			if next == "" {
				break
			}
			q.After = next
		}
		names = names[n:]
	}
	return all, nil
}

// listed returns the sorted names of locks that a query lists, at most so many, and whether
// there are more.
func listed(ctx context.Context, c Cluster, who node.Caller, q node.LockQuery, most int, quiet *silence) (names []string, more bool, err error) {
	for {
		page, next, err := c.Locks(ctx, who, q)
		if err != nil {
			return nil, false, err
		}
		quiet.add(page.Unasked...)
		for i := range page.Locks {
			names = append(names, page.Locks[i].Name)
		}
		switch {
		case len(names) > most:
			return names[:most], true, nil
		case next == "":
			return names, false, nil
		case len(names) == most:
			return names, true, nil
		}
		q.After = next
	}
}
