package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
)

// While a cluster is upgraded, some nodes do not know AskPulse and AskPast. They decline or
// deny them, and log each denial, so they are not asked again for a while.

// olderFor is how long a node that is of an older version is not asked again.
const olderFor = time.Minute

// olderNodes are the nodes that are of an older version, as far as is known.
type olderNodes struct {
	mu    sync.Mutex
	until map[string]time.Time // by address
}

func (o *olderNodes) has(address string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return now.Before(o.until[address])
}

func (o *olderNodes) add(address string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.until == nil {
		o.until = map[string]time.Time{}
	}
	for a, until := range o.until {
		if !now.Before(until) {
			delete(o.until, a)
		}
	}
	o.until[address] = now.Add(olderFor)
}

// ask asks the node at an address a question, and one of an older version what it knows
// instead: its status is a pulse without measurements.
func (o *olderNodes) ask(address string, what uint64, now time.Time, ask func(what uint64) ([]byte, error)) ([]byte, error) {
	if what != AskPulse && what != AskPast {
		return ask(what)
	}
	older := o.has(address, now)
	if older && what == AskPast {
		return nil, client.Declined(fmt.Sprintf("the node at %s is of an older version, which does not remember past holders", address))
	}
	var refused error
	if !older {
		b, err := ask(what)
		if what == AskPast || !refuses(err) {
			return b, err
		}
		refused = err
	}
	b, err := ask(AskStatus)
	if err != nil && refused != nil {
		return nil, refused // by one that knows the question, too
	}
	p := emptyPulse()
	if err == nil {
		err = json.Unmarshal(b, &p.Status)
	}
	if err != nil {
		return nil, err
	}
	if !older {
		o.add(address, now)
	}
	return json.Marshal(p)
}

// refuses reports whether a node has understood that it was asked, but does not answer.
func refuses(err error) bool {
	var declined client.Declined
	return errors.As(err, &declined) || errors.Is(err, lock.ErrDenied)
}
