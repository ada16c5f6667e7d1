package teller

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// lease is the lease of the cluster. Pauses are longer.
const lease = time.Second

// A nodeProcess is a node of the cluster, over all its starts.
type nodeProcess struct {
	name    string
	address string // where others reach it; empty before it was started
	proxy   *proxy // nil if they do so directly
	*child
}

// startNodes starts the cluster on a network, which may be nil. It returns the nodes that
// run, even after an error.
func (g *group) startNodes(ctx context.Context, algorithm string, w *network) ([]*nodeProcess, error) {
	var all []*nodeProcess
	for i := range nodes {
		s := &nodeProcess{name: fmt.Sprintf("node%d", i+1)}
		if w != nil {
			var err error
			if s.proxy, err = w.proxy(s.name); err != nil {
				return all, err
			}
		}
		more := []string{"--lease", lease.String(), "--voters", fmt.Sprint(nodes)}
		if algorithm != "" {
			more = append(more, "--algorithm", algorithm)
		}
		if i > 0 {
			more = joining(all)
		}
		if err := g.serve(ctx, s, more...); err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}

// joining returns the flags to join nodes.
func joining(others []*nodeProcess) (flags []string) {
	for _, o := range others {
		flags = append(flags, "--join", o.address)
	}
	return flags
}

// serve starts a node as 'stile serve', and waits until it is a member.
func (g *group) serve(ctx context.Context, s *nodeProcess, more ...string) error {
	listen := s.address
	switch {
	case s.proxy != nil:
		listen = s.proxy.target
		more = append(more, "--advertise", s.proxy.listener.Addr().String())
	case listen == "":
		listen = "127.0.0.1:0"
	}
	args := append([]string{"stile", "serve", "--name", s.name, "--listen", listen, "--data", filepath.Join(g.dir, s.name), "--http", "off"}, more...)
	first := make(chan string, 1)
	c, err := g.start(s.name, func(line []byte) {
		select {
		case first <- string(line):
		default: // only the first one matters
		}
	}, args...)
	if err != nil {
		return fmt.Errorf("start node %s: %w", s.name, err)
	}
	s.child = c
	select {
	case line := <-first:
		s.address, err = listening(line)
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-c.gone:
		err = errors.New(c.lastLogged())
	}
	if err != nil {
		c.kill()
		return fmt.Errorf("start node %s: %w", s.name, err)
	}
	return nil
}

// listening returns the address in the first line of 'stile serve'.
func listening(line string) (string, error) {
	_, rest, found := strings.Cut(line, " listening on ")
	address, _, ok := strings.Cut(rest, ",")
	if !found || !ok {
		return "", errors.New("the first line of 'stile serve' has no address: " + strings.TrimSpace(line))
	}
	return address, nil
}

// restart starts a node that was killed, at its address. Another program may use that for a
// moment, as the end of a connection.
func (g *group) restart(ctx context.Context, s *nodeProcess, others []*nodeProcess) error {
	for tries := 0; ; tries++ {
		err := g.serve(ctx, s, joining(others)...)
		if err == nil || ctx.Err() != nil || tries == maxStarts {
			return err
		}
		sleep(ctx, lease)
	}
}

// maxStarts is how often a node is started again before that counts as failed.
const maxStarts = 20

// sleep waits, until the context ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
