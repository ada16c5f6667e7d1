package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of the machine.
const (
	limitTCP   = "limit-tcp"
	limitTLS   = "limit-tls"
	limitMutex = "limit-mutex"
	limitFsync = "limit-fsync"
)

// limits are measured as entrants are, in the uncontended rounds.
var limits = []*entrant{
	{Name: limitTCP, Title: "limit: two TCP round trips", Client: "net.Conn", Security: "plain"},
	{Name: limitTLS, Title: "limit: two TLS round trips", Client: "tls.Conn", Security: "TLS"},
	{Name: limitMutex, Title: "limit: sync.Mutex", Client: "one process", Security: "-"},
	{Name: limitFsync, Title: "limit: one fsync of 512 bytes", Client: "one file", Security: "-"},
}

// message is the size of a raw message, about that of a request for a lock.
const message = 64

// echo echoes what arrives at an address.
func echo(o *order) (string, error) {
	t, err := o.Access.TLS.config()
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := l.Addr().String()
	if t != nil {
		l = tls.NewListener(l, t)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				b := make([]byte, message)
				for {
					if _, err := io.ReadFull(c, b); err != nil {
						return
					}
					if _, err := c.Write(b); err != nil {
						return
					}
				}
			}()
		}
	}()
	return address, nil
}

// limit measures a limit.
func limit(o *order) (answer, error) {
	switch o.Name {
	case limitMutex:
		return limitOf(o, mutex())
	case limitFsync:
		return fsync(o)
	}
	t, err := o.Access.TLS.config()
	if err != nil {
		return answer{}, err
	}
	c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", o.Access.Addrs[0])
	if err != nil {
		return answer{}, err
	}
	if t != nil {
		t.ServerName = "127.0.0.1"
		c = tls.Client(c, t)
	}
	defer c.Close()
	b := make([]byte, message)
	return limitOf(o, func(int) error {
		for range 2 {
			if _, err := c.Write(b); err != nil {
				return err
			}
			if _, err := io.ReadFull(c, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// mutex returns what locks and unlocks a mutex many times. The time of one is too short to
// be measured alone.
func mutex() func(int) error {
	var mu sync.Mutex
	return func(n int) error {
		for range n {
			mu.Lock()
			//lint:ignore SA2001 nothing is protected
			mu.Unlock()
		}
		return nil
	}
}

// limitOf measures something as a client of the worker.
func limitOf(o *order, f func(n int) error) (a answer, err error) {
	batch := 1
	if o.Name == limitMutex {
		batch = 1000
	}
	t := &tally{}
	var over atomic.Bool
	stop := time.AfterFunc(o.Warm+o.For, func() { over.Store(true) })
	defer stop.Stop()
	from := time.Now().Add(o.Warm)
	for at := time.Now(); !over.Load(); {
		if err := f(batch); err != nil {
			return a, err
		}
		now := time.Now()
		t.all++
		if now.After(from) {
			t.add(now.Sub(at))
		}
		at = now
	}
	t.into(&a.Times)
	a.Took, a.Least = o.For, a.Times.Count
	if batch > 1 { // the clock cannot see one of them
		a.Times.Count, a.Times.All = a.Times.Count*uint64(batch), a.Times.All*uint64(batch)
		a.Times.Max = a.Times.mean()
		a.Times.Counts = map[int]uint64{step(a.Times.Max): a.Times.Count}
		a.Least = a.Times.Count
	}
	return a, nil
}

// fsync appends to a file and has it written.
func fsync(o *order) (a answer, err error) {
	path := filepath.Join(o.Access.Addrs[0], "fsync")
	f, err := os.Create(path)
	if err != nil {
		return a, fmt.Errorf("create a file to write: %w", err)
	}
	defer os.Remove(path)
	defer f.Close()
	b := make([]byte, 512)
	return limitOf(o, func(int) error {
		if _, err := f.Write(b); err != nil {
			return err
		}
		return f.Sync()
	})
}
