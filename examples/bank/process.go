package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// The roles of the processes of a run: the only argument of such a process.
const (
	nodeRole   = "node"
	workerRole = "worker"
)

// A process is a node or a worker. It takes and gives JSON.
type process struct {
	cmd  *exec.Cmd
	out  *json.Encoder
	in   *json.Decoder
	once sync.Once
}

// start starts a process with its task, and waits until it is ready. It is killed when the
// context ends.
func start(ctx context.Context, role string, task any) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self, role)}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.out, p.in = json.NewEncoder(in), json.NewDecoder(out)
	var ready bool
	err = p.out.Encode(task)
	if err == nil {
		err = p.in.Decode(&ready)
	}
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("start a %s: %w", role, err)
	}
	return p, nil
}

// kill kills a process, paused or not, and waits until it has ended.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
}

// child is the main function of a node or a worker.
func child(role string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // the parent process handles them
	in, from := io.Pipe()
	go func() {
		_, _ = io.Copy(from, os.Stdin)
		os.Exit(0) // the run has ended
	}()
	if role == nodeRole {
		return serveNode(json.NewDecoder(in), json.NewEncoder(os.Stdout))
	}
	return work(json.NewDecoder(in), json.NewEncoder(os.Stdout))
}
