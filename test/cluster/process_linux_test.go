package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node"
)

// A fleet is the processes of a run, and what they protect.
type fleet struct {
	t       *testing.T
	net     *world // nil: all are at the loopback address
	journal *journal
	things  *resource
	dir     string
	procs   []*process
}

// A process is a worker, over all its starts.
type process struct {
	fleet *fleet
	index int
	orders
	starts int
	going  bool // it uses locks, unless it has ended by itself
	log    string

	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	ready  bool
	rested bool
	probed bool
	ended  string // why it has ended by itself
	status *node.Status
	exited chan struct{} // closed when the process is gone
}

// launch starts a process again, with the folder that it has.
func (p *process) launch() error {
	p.starts++
	p.going = false
	o := p.orders
	o.Who = fmt.Sprintf("%s#%d", p.Name, p.starts)
	o.Seed += uint64(p.starts)
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	start := cmd.Start
	if w := p.fleet.net; w != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		start = func() error { return w.within(p.index, cmd.Start) }
	}
	if err := start(); err != nil {
		return fmt.Errorf("start %s: %w", o.Who, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.in, p.exited = cmd, in, make(chan struct{})
	p.ready, p.rested, p.probed, p.ended, p.status = false, false, false, "", nil
	go p.listen(o.Who, cmd, out, p.exited)
	return nil
}

// listen takes what a process reports, until it is gone.
func (p *process) listen(who string, cmd *exec.Cmd, out io.Reader, exited chan struct{}) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // what was cut off by a kill is not there
		}
		r := &report{}
		if err := json.Unmarshal(line, r); err != nil {
			p.fleet.t.Errorf("%s reports %q: %v", who, line, err)
			continue
		}
		p.mu.Lock()
		switch r.Kind {
		case ready:
			p.ready = true
		case rested:
			p.rested = true
		case probed:
			p.probed = true
		case ended:
			p.ended = r.Err
		case state:
			p.status = r.Status
		}
		p.mu.Unlock()
		p.fleet.journal.take(who, r)
	}
	_ = cmd.Wait() // how it ended is known
	close(exited)
	p.fleet.journal.nudge()
}

// tell tells a worker something.
func (p *process) tell(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.in, what+"\n") // if it is gone, that shows elsewhere
}

// signal sends a signal.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s) // if it is gone, that shows elsewhere
}

// running reports whether there is a process.
func (p *process) running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.exited:
		return false
	default:
		return p.cmd != nil
	}
}

// is looks at what was reported.
func (p *process) is(so func(p *process) bool) func() bool {
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return so(p)
	}
}

// kill kills a process, and waits until it is gone.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// begin waits until a process is ready, and lets it use locks. One that has ended
// by itself meanwhile is an error.
func (p *process) begin(within time.Duration) error {
	if !p.fleet.journal.await(within, func() bool { return p.is(func(p *process) bool { return p.ready })() || !p.running() }) {
		return fmt.Errorf("%s is not ready within %v", p.Name, within)
	}
	if !p.running() {
		return fmt.Errorf("%s has ended: %s", p.Name, p.ended)
	}
	p.going = true
	p.tell(goOn)
	return nil
}

// ask asks a node how its cluster is. Nil if it does not answer within the time.
func (p *process) askStatus(within time.Duration) *node.Status {
	p.mu.Lock()
	p.status = nil
	p.mu.Unlock()
	p.tell(askStatus)
	p.fleet.journal.await(within, func() bool { return p.is(func(p *process) bool { return p.status != nil })() || !p.running() })
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// add adds a process to a fleet, which is not started yet.
func (f *fleet) add(o orders) *process {
	i := len(f.procs)
	o.Resource = f.things.path
	p := &process{fleet: f, index: i, orders: o, log: filepath.Join(f.dir, o.Name+".log")}
	f.procs = append(f.procs, p)
	return p
}

// end kills all, looks for what none may log, and shows the ends of what they
// logged if the test has failed.
func (f *fleet) end() {
	logs := map[string]string{}
	for _, p := range f.procs {
		if p.cmd != nil {
			p.kill()
		}
		b, _ := os.ReadFile(p.log)
		logs[p.Name] = string(b)
		for _, word := range []string{"DATA RACE", "panic: ", "fatal error: "} {
			if i := strings.Index(logs[p.Name], word); i >= 0 {
				f.t.Errorf("%s has logged:\n%s", p.Name, logs[p.Name][i:min(len(b), i+4000)])
			}
		}
	}
	if !f.t.Failed() {
		return
	}
	for _, p := range f.procs {
		lines := strings.Split(logs[p.Name], "\n")
		f.t.Logf("the last that %s logged:\n%s", p.Name, strings.Join(lines[max(0, len(lines)-25):], "\n"))
		if keep := os.Getenv("STILE_CLUSTER_LOGS"); keep != "" {
			_ = os.WriteFile(filepath.Join(keep, p.Name+".log"), []byte(logs[p.Name]), 0o600) // for people, who see if it is not there
		}
	}
}
