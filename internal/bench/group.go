package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
)

// A group is the processes whose nodes form one cluster.
type group struct {
	Config
	ctx  context.Context
	dir  string
	echo string // address where one of them echoes what it receives
	all  []*worker
}

// A worker is one of the processes, seen from here.
type worker struct {
	name    string
	address string // address of its node
	opened  order  // order that started the node
	cmd     *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Reader
}

// start starts all processes. The group must be stopped, even after an error.
func start(ctx context.Context, dir string) (*group, error) {
	g := &group{ctx: ctx, dir: dir}
	now := time.Now()
	if _, err := cert.CA(cert.Order{Dir: dir, Days: 1, Now: now}); err != nil {
		return g, err
	}
	for i := range nodes {
		name := fmt.Sprintf("node%d", i+1)
		made, err := cert.Node(cert.Order{Dir: dir, Name: name, Hosts: []string{"127.0.0.1"}, Days: 1, Now: now})
		if err != nil {
			return g, err
		}
		if err := os.Mkdir(filepath.Join(dir, "data"+name), 0o700); err != nil {
			return g, err
		}
		o := order{Op: opOpen, Name: name, Dir: filepath.Join(dir, "data"+name), CA: filepath.Join(dir, cert.CAName+".crt"), Cert: made.Cert, Key: made.Key}
		if i > 0 {
			o.Address = g.all[0].address
		}
		w, err := g.run(name)
		if err != nil {
			return g, err
		}
		g.all = append(g.all, w)
		if err := w.open(o); err != nil {
			return g, err
		}
	}
	a, err := g.all[1].ask(order{Op: opEcho})
	g.echo = a.Address
	return g, err
}

// run starts a process, which ends when this one does.
func (g *group) run(name string) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the path of this program, to start nodes: %w", err)
	}
	w := &worker{name: name, cmd: exec.CommandContext(g.ctx, self)}
	w.cmd.Args = []string{workerName}
	w.cmd.Stderr = os.Stderr
	if w.orders, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.answers = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a node process: %w", err)
	}
	return w, nil
}

// open has a node started.
func (w *worker) open(o order) error {
	a, err := w.ask(o)
	w.address, w.opened = a.Address, o
	return err
}

// ask has an order carried out.
func (w *worker) ask(o order) (a answer, err error) {
	b, err := json.Marshal(o)
	if err == nil {
		_, err = w.orders.Write(append(b, '\n'))
	}
	var line []byte
	if err == nil {
		line, err = w.answers.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	if err != nil {
		return a, fmt.Errorf("measure %s at %s: %w", o.Op, w.name, err)
	}
	return a, nil
}

// together makes several workers carry out an order at the same time, and adds up the
// results. The longest time counts.
func (g *group) together(all []*worker, o func(i int) order) (sum answer, err error) {
	answers, errs := make([]answer, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i, w := range all {
		wg.Go(func() { answers[i], errs[i] = w.ask(o(i)) })
	}
	wg.Wait()
	for _, a := range answers {
		sum.Count, sum.Handoffs, sum.CPU = sum.Count+a.Count, sum.Handoffs+a.Handoffs, sum.CPU+a.CPU
		sum.Took = max(sum.Took, a.Took)
	}
	return sum, errors.Join(errs...)
}

// sleep waits, until the context ends.
func (g *group) sleep(d time.Duration) {
	select {
	case <-g.ctx.Done():
	case <-time.After(d):
	}
}

// files returns when each file in the folders of the nodes was last written.
func (g *group) files() map[string]time.Time {
	all := map[string]time.Time{}
	_ = filepath.WalkDir(g.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err == nil {
			all[path] = info.ModTime()
		}
		return nil
	})
	return all
}

// stop ends all processes.
func (g *group) stop() {
	for _, w := range g.all {
		w.orders.Close()
	}
	for _, w := range g.all {
		w.end()
	}
}

// end ends a process.
func (w *worker) end() {
	w.orders.Close()
	late := time.AfterFunc(5*time.Second, func() { w.cmd.Process.Kill() })
	_ = w.cmd.Wait() // it was told to end, or killed
	late.Stop()
}
