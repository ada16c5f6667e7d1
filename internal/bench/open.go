package bench

import (
	"context"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// soon is the time limit of anything that is not measured.
const soon = time.Minute

// drain is how long a node waits for holders of locks: as long as 'stile serve' does.
const drain = 12 * time.Second

func others(address string) []string {
	if address == "" {
		return nil
	}
	return []string{address}
}

// open starts the node, as an application that embeds it does.
func (s *site) open(o *order) (a answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	s.name, s.files = o.Name, stile.Certificates{CA: o.CA, Cert: o.Cert, Key: o.Key}
	s.node, err = stile.Open(ctx, stile.Config{Name: o.Name, Listen: o.Listen, Data: o.Dir, Join: append(others(o.Address), o.Nodes...), TLS: s.files, Drain: drain})
	if err != nil {
		return a, err
	}
	return answer{Address: s.node.Address()}, nil
}

// openPair starts a node of a cluster with a handover bound of 1: if a request waits at
// another node, the lock goes there after each entry. So each entry is a handoff.
func (s *site) openPair(o *order) (a answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	settings := member.Usual()
	settings.Handover = 1
	s.pair, err = node.Start(node.Config{Name: s.name, Listen: "127.0.0.1:0", Join: others(o.Address), Settings: &settings, TLS: cert.Config(s.files)})
	if err != nil {
		return a, err
	}
	return answer{Address: s.pair.Address()}, s.pair.Ready(ctx)
}

// A holder is a held lock, through a node or a client.
type holder interface {
	Unlock() error
}

// here locks at the node, and returns the number of the entry too.
func (s *site) here(name string) (holder, uint64, error) {
	l, err := s.node.Lock(context.Background(), name)
	if err != nil {
		return nil, 0, err
	}
	return l, l.Token().Count, nil
}

// paired locks at the node of the pair.
func (s *site) paired(name string) (holder, uint64, error) {
	l, err := s.pair.Lock(context.Background(), name, lock.Options{})
	if err != nil {
		return nil, 0, err
	}
	return l, l.Token().Count, nil
}

func (s *site) hold(o *order) (a answer, err error) {
	s.held, _, err = s.here(o.Lock)
	return a, err
}
