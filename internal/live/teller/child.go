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

// A family is the processes of a run, all in the process group of the guard.
type family struct {
	self  string // path of this program
	dir   string // folder of the run
	guard *exec.Cmd
	pipe  io.Closer // its end is what the guard waits for
}

// newFamily creates the folder of a run, and starts its guard.
func newFamily() (*family, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the path of this program, to start nodes: %w", err)
	}
	dir, err := os.MkdirTemp("", "stile-bank-")
	if err != nil {
		return nil, fmt.Errorf("create a folder for the nodes and the database: %w", err)
	}
	f := &family{self: self, dir: dir, guard: exec.Command(self)}
	f.guard.Args = []string{guardName, dir}
	f.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if f.pipe, err = f.guard.StdinPipe(); err == nil {
		err = f.guard.Start()
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("start the guard of the processes: %w", err)
	}
	return f, nil
}

// end has the guard kill what is left, and remove the folder.
func (f *family) end() {
	f.pipe.Close()
	_ = f.guard.Wait() // it kills itself
}

// A relative is a process of a family.
type relative struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	log  string        // file with what it writes on standard error
	gone chan struct{} // closed when it has ended
}

// start starts a process, and calls hear for each line that it prints. Its log is appended
// to a file.
func (f *family) start(name string, hear func(line []byte), args ...string) (*relative, error) {
	r := &relative{cmd: exec.Command(f.self), log: filepath.Join(f.dir, name+".log"), gone: make(chan struct{})}
	r.cmd.Args = args
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "STILE_") { // settings of the user's own nodes
			r.cmd.Env = append(r.cmd.Env, v)
		}
	}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: f.guard.Process.Pid}
	log, err := os.OpenFile(r.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r.cmd.Stderr = log
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a process: %w", err)
	}
	go func() {
		defer close(r.gone)
		lines := bufio.NewReader(out)
		for line, err := lines.ReadBytes('\n'); err == nil; line, err = lines.ReadBytes('\n') {
			hear(line)
		}
		_ = r.cmd.Wait() // how it ended is known, or in its log
	}()
	return r, nil
}

// say sends a process something as JSON.
func (r *relative) say(x any) error { return json.NewEncoder(r.in).Encode(x) }

// kill ends a process, paused or not, and waits until it has.
func (r *relative) kill() {
	_ = r.cmd.Process.Kill() // if it has ended, all the better
	<-r.gone
}

// dismiss closes the input of a process, so that it ends by itself, or else is killed.
func (r *relative) dismiss(patience time.Duration) {
	r.in.Close()
	late := time.AfterFunc(patience, func() { _ = r.cmd.Process.Kill() })
	<-r.gone
	late.Stop()
}

// lastWords returns the last line of the log of a process, which says why it has ended.
func (r *relative) lastWords() string {
	b, err := os.ReadFile(r.log)
	if err != nil {
		return err.Error()
	}
	log := strings.TrimSpace(string(b))
	if log == "" {
		return "it has logged nothing, so it may have been killed"
	}
	return log[strings.LastIndex(log, "\n")+1:]
}
