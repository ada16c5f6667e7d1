package bench

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// A crowd is many clients that wait for one lock.
type crowd struct {
	all  []*stile.Client
	had  chan error // each reports when it has held the lock
	most time.Duration
}

// patience is the time limit of a crowd for each of its clients, in addition to a minute.
const patience = 20 * time.Millisecond

// gather creates clients, and makes each request the lock. They dial a few at a time,
// because nodes limit the number of simultaneous greetings.
func (s *site) gather(o *order) (answer, error) {
	c := &crowd{all: make([]*stile.Client, o.Users), had: make(chan error, o.Users), most: time.Minute + time.Duration(o.Users)*patience}
	s.crowd = c
	errs := make([]error, o.Users)
	turn := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i := range c.all {
		turn <- struct{}{}
		wg.Go(func() {
			c.all[i], errs[i] = s.dial(o.Address)
			<-turn
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return answer{}, err
	}
	for _, x := range c.all {
		go func() { c.had <- once(x, o.Lock) }()
	}
	return answer{}, s.waiting(o.Address, o.Users)
}

// served waits until all have held the lock, and counts them.
func (c *crowd) served() (a answer, err error) {
	late := time.After(c.most)
	for range c.all {
		select {
		case err := <-c.had:
			if err == nil {
				a.Count++
			}
		case <-late:
			return a, nil
		}
	}
	var wg sync.WaitGroup
	for _, x := range c.all {
		wg.Go(func() { x.Close() })
	}
	wg.Wait()
	c.all = nil
	return a, nil
}

// waiting waits until this many requests wait at a node.
func (s *site) waiting(address string, many int) error {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	x, err := client.Dial(ctx, client.Config{Nodes: []string{address}, TLS: cert.Config(s.files)})
	if err != nil {
		return err
	}
	defer x.Close()
	for {
		b, err := x.Ask(ctx, node.AskStatus, nil)
		if err != nil {
			return err
		}
		var is node.Status
		if err := json.Unmarshal(b, &is); err != nil || is.Waiting >= many {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
