//go:build linux || darwin

package child

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// kinds are the real way to run a command and ways that others have taken.
func kinds() map[string]func(context.Context, Config) (Result, error) {
	return map[string]func(context.Context, Config) (Result, error){
		"real": Run,
		// Only the command is signalled and ended, not what it started.
		"child": naive(func(p *os.Process, sig syscall.Signal) { _ = p.Signal(sig) }, true),
		// It kills the group, but not processes that have left it, and nothing if exec is
		// dead or stopped.
		"group": naive(func(p *os.Process, sig syscall.Signal) { _ = syscall.Kill(-p.Pid, sig) }, true),
		// It signals the group, and does not check that the group exits.
		"polite": naive(func(p *os.Process, sig syscall.Signal) { _ = syscall.Kill(-p.Pid, sig) }, false),
	}
}

// naive runs a command as many programs do: in a group of its own in the
// background, without a watchdog, with exit code 1 for everything that goes wrong.
func naive(hit func(*os.Process, syscall.Signal), kill bool) func(context.Context, Config) (Result, error) {
	return func(ctx context.Context, cfg Config) (Result, error) {
		args, _ := arguments(cfg.Args, cfg.Shell, cfg.Env)
		c := exec.Command(args[0], args[1:]...)
		c.Stdin, c.Stdout, c.Stderr, c.Env = cfg.Stdin, cfg.Stdout, cfg.Stderr, cfg.Env
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		r, w, err := os.Pipe()
		if err != nil {
			return Result{Code: 1}, err
		}
		defer r.Close()
		c.ExtraFiles = []*os.File{w} // a descriptor that the command should not have
		signals := make(chan os.Signal, 64)
		signal.Notify(signals, forwarded()...)
		if err := c.Start(); err != nil {
			return Result{Code: 1}, err
		}
		over := make(chan error, 1)
		go func() { over <- c.Wait() }()
		for {
			select {
			case sig := <-signals:
				hit(c.Process, sig.(syscall.Signal))
			case <-ctx.Done():
				hit(c.Process, syscall.SIGTERM)
				if kill {
					hit(c.Process, syscall.SIGKILL)
					<-over
				}
				return Result{Code: Failed}, nil
			case err := <-over:
				if err != nil {
					return Result{Code: 1}, err
				}
				return Result{}, nil
			}
		}
	}
}
