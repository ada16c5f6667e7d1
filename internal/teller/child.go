package teller

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A group is the processes of a run, all in the process group of the guard.
type group struct {
	self  string // path of this program
	dir   string // folder of the run
	guard *exec.Cmd
	pipe  io.Closer // its end is what the guard waits for
}

// newGroup creates the folder of a run, and starts its guard.
func newGroup() (*group, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the path of this program, to start nodes: %w", err)
	}
	dir, err := os.MkdirTemp("", "stile-bank-")
	if err != nil {
		return nil, fmt.Errorf("create a folder for the nodes and the database: %w", err)
	}
	g := &group{self: self, dir: dir, guard: exec.Command(self)}
	g.guard.Args = []string{guardName, dir}
	g.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if g.pipe, err = g.guard.StdinPipe(); err == nil {
		err = g.guard.Start()
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("start the guard of the processes: %w", err)
	}
	return g, nil
}

// end has the guard kill what is left, and remove the folder.
func (g *group) end() {
	g.pipe.Close()
	_ = g.guard.Wait() // it kills itself
}

// A child is a process of a group.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	log  string        // file with what it writes on standard error
	gone chan struct{} // closed when it has ended
}

// start starts a process, and calls hear for each line that it prints. Its log is appended
// to a file.
func (g *group) start(name string, hear func(line []byte), args ...string) (*child, error) {
	c := &child{cmd: exec.Command(g.self), log: filepath.Join(g.dir, name+".log"), gone: make(chan struct{})}
	c.cmd.Args = args
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "STILE_") { // settings of the user's own nodes
			c.cmd.Env = append(c.cmd.Env, v)
		}
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.guard.Process.Pid}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c.cmd.Stderr = log
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a process: %w", err)
	}
	go func() {
		defer close(c.gone)
		lines := bufio.NewReader(out)
		for line, err := lines.ReadBytes('\n'); err == nil; line, err = lines.ReadBytes('\n') {
			hear(line)
		}
		_ = c.cmd.Wait() // how it ended is known, or in its log
	}()
	return c, nil
}

// say sends a process something as JSON.
func (c *child) say(x any) error { return json.NewEncoder(c.in).Encode(x) }

// kill ends a process, paused or not, and waits until it has.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // if it has ended, all the better
	<-c.gone
}

// stop closes the input of a process, so that it ends by itself, or else is killed.
func (c *child) stop(patience time.Duration) {
	c.in.Close()
	late := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	<-c.gone
	late.Stop()
}

// lastLogged returns the last line of the log of a process, which says why it has ended.
func (c *child) lastLogged() string {
	b, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	log := strings.TrimSpace(string(b))
	if log == "" {
		return "it has logged nothing, so it may have been killed"
	}
	return log[strings.LastIndex(log, "\n")+1:]
}
