package teller

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

const (
	down   = lease / 2     // time from the kill of a node to its start
	paused = lease * 5 / 2 // length of a pause
	apart  = paused        // length of a partition
)

// chaos returns what brings the faults about, until the run ends.
func (r *run) chaos() func() {
	strikes := r.strikes()
	var times []due
	for _, s := range strikes {
		times = append(times, due{s.after, make(chan struct{})})
	}
	r.mu.Lock()
	r.due = slices.Clone(times)
	r.mu.Unlock()
	return func() {
		for i, s := range strikes {
			select {
			case <-times[i].now:
			case <-r.ctx.Done():
				return
			}
			if r.ctx.Err() != nil {
				return // both were ready
			}
			if err := r.strike(s); err != nil {
				r.end(err)
				return
			}
		}
	}
}

// strike brings one fault about, and waits until it is over.
func (r *run) strike(s strike) error {
	switch {
	case s.kind == killFault:
		return r.killNode(s.victim)
	case s.kind == partitionFault:
		r.isolateNode(s.victim)
		return nil
	case s.worker:
		return r.pauseWorkers(s.victim)
	}
	return r.pauseNode(s.victim)
}

// killNode kills a node, and starts it again.
func (r *run) killNode(i int) error {
	n := r.nodes[i]
	n.kill()
	r.event("%s killed", n.name)
	r.report.Killed++
	sleep(r.ctx, down)
	if err := r.group.restart(r.ctx, n, slices.Delete(slices.Clone(r.nodes), i, i+1)); err != nil {
		return err
	}
	r.event("%s started again, and a member", n.name)
	return nil
}

// isolateNode cuts a node off from the others, for longer than the lease, or until the run
// ends. Workers still reach it.
func (r *run) isolateNode(i int) {
	n := r.nodes[i]
	r.network.isolate(n.name)
	r.event("%s cut off from the other nodes for %v", n.name, apart)
	r.report.Isolated++
	sleep(r.ctx, apart)
	r.network.heal()
	r.event("%s connected with them again", n.name)
}

// pauseNode pauses a node.
func (r *run) pauseNode(i int) error {
	n := r.nodes[i]
	return r.pause(n.child, n.name)
}

// pauseWorkers pauses a worker process while one of its workers is between read and write.
func (r *run) pauseWorkers(i int) error {
	c, name := r.workers[i], fmt.Sprintf("worker process %d", i+1)
	if err := c.say(order{Pause: true}); err != nil {
		return fmt.Errorf("pause %s: %w", name, err)
	}
	select {
	case <-c.pausing:
	case <-r.ctx.Done():
		return nil
	}
	if err := r.pause(c.child, name); err != nil {
		return err
	}
	if err := c.say(order{Resume: true}); err != nil {
		return fmt.Errorf("resume %s: %w", name, err)
	}
	return nil
}

// pause stops a process for longer than the lease, or until the run ends.
func (r *run) pause(p *child, name string) error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pause %s: %w", name, err)
	}
	r.event("%s paused for %v", name, paused)
	r.report.Paused++
	sleep(r.ctx, paused)
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("resume %s: %w", name, err)
	}
	r.event("%s resumed", name)
	return nil
}

// watchEvery is how often the wait-for graph is asked for. A deadlock that is there twice in
// a row stands: no transaction waits that long by itself.
const watchEvery = 250 * time.Millisecond

// watch ends the run when there is a deadlock.
func (r *run) watch() {
	var addresses []string
	var members []node.MemberInfo
	for _, n := range r.nodes {
		addresses = append(addresses, n.address)
		members = append(members, node.MemberInfo{Name: n.name, Address: n.address})
	}
	c, err := client.Dial(r.ctx, client.Config{Name: "observer", Nodes: addresses})
	if err != nil {
		r.end(fmt.Errorf("watch for deadlocks: %w", err))
		return
	}
	defer c.Close()
	var before []survey.Vertex
	for r.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(r.ctx, lease)
		g := survey.Take(ctx, members, node.LockQuery{Prefix: accountPrefix, Graph: true}, c.AskAt).Graph()
		cancel()
		now := ring(g)
		if len(now) > 0 && same(before, now) {
			r.deadlocked(g)
			return
		}
		before = now
		sleep(r.ctx, watchEvery)
	}
}

// ring returns the transactions of the first deadlock, if any.
func ring(g *survey.Graph) (all []survey.Vertex) {
	if len(g.Deadlocks) == 0 {
		return nil
	}
	for _, i := range g.Deadlocks[0] {
		all = append(all, g.Vertices[i])
	}
	return all
}

// same reports whether two rings have the same transactions, in any order: a ring has no
// first one.
func same(a, b []survey.Vertex) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(v survey.Vertex) bool {
		return !slices.ContainsFunc(b, func(w survey.Vertex) bool { return v.Node == w.Node && v.Tx == w.Tx })
	})
}
