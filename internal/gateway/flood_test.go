package gateway

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/transport"
)

// floodAt is the environment variable with what a process of its own floods: see flood.
const floodAt = "STILE_TEST_FLOOD"

// visitors are what connections without a certificate do, over and over.
var visitors = map[string]func(c net.Conn) error{
	"silent":    func(net.Conn) error { return nil },
	"handshake": func(c net.Conn) error { _, err := c.Write([]byte{0x16, 3, 1, 2, 0, 1}); return err }, // the rest does not come
	"body": func(c net.Conn) error {
		t := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		_, err := fmt.Fprintf(t, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", pb.LocksOpenSessionProcedure, maxBody)
		return err
	},
	"idle": func(c net.Conn) error {
		_, err := io.WriteString(tls.Client(c, &tls.Config{InsecureSkipVerify: true}), "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
		return err
	},
}

// flood keeps connections open, given as a kind, a number and addresses. It reports the number that
// it has opened on standard output, opens others in place of those that are closed, and ends
// with standard input. A process of its own has its own limit of open files.
func flood(order string) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil {
		limit.Cur = limit.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
	var kind string
	var count int
	if _, err := fmt.Sscan(order, &kind, &count); err != nil {
		panic(err)
	}
	addresses := strings.Fields(order)[2:]
	next, often := time.NewTicker(4*time.Millisecond), time.NewTicker(4*time.Millisecond) // as often as a busy machine can stand
	var first sync.WaitGroup
	var opened atomic.Int64
	for i := range count {
		first.Add(1)
		go func() {
			for again := false; ; again = true {
				if again {
					<-often.C
				}
				c, err := net.Dial("tcp", addresses[i%len(addresses)])
				if err == nil {
					_ = visitors[kind](c) // the node may have closed it
				}
				if !again {
					if err == nil {
						opened.Add(1)
					}
					first.Done()
				}
				if err == nil {
					_, _ = io.Copy(io.Discard, c)
					c.Close()
				}
			}
		}()
		if i%100 == 99 {
			<-next.C
		}
	}
	first.Wait()
	fmt.Println(opened.Load())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// flooded starts a flood, and returns when all its connections were open once.
func flooded(t *testing.T, kind string, count int, addresses ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", floodAt, kind, count, strings.Join(addresses, " ")))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	opened := 0
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	} else if _, err := fmt.Sscan(line, &opened); err != nil {
		t.Fatal(err)
	}
	if opened < count {
		t.Skipf("this machine opens %d connections, and not %d: raise ulimit -n", opened, count)
	}
}

// from returns the API as the owner of a certificate sees it from another address, over a new
// connection for each call.
func (a *api) from(ip string, c cert.Config) *api {
	b := a.as(c)
	t := b.client.Transport.(*http.Transport)
	t.DisableKeepAlives = true
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}).DialContext(ctx, network, address)
	}
	return b
}

// probe returns the status of a probe.
func (a *api) probe() (int, error) {
	r, err := a.client.Get(a.url + "/readyz")
	if err != nil {
		return 0, err
	}
	return r.StatusCode, r.Body.Close()
}

// serves waits until a client from the address of the flood is served, by both addresses of the
// first node.
func (w *town) serves(t *testing.T, honest cert.Config) {
	t.Helper()
	same := w.api.from("127.0.0.1", honest)
	eventually(t, "a probe from the same address is answered", func() bool {
		status, err := same.probe()
		return err == nil && status == http.StatusOK
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	x, err := client.Dial(ctx, client.Config{Nodes: []string{w.nodes[0].Address()}, TLS: honest})
	if err != nil {
		t.Fatal(err)
	}
	h, err := x.Lock(ctx, "x", lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Unlock(); err != nil {
		t.Error(err)
	}
	_ = x.Close()
}

// Connections without a certificate, many times more than a node accepts and opened again and
// again, cost a bounded amount of memory. Meanwhile honest clients from another address are served
// at once, those from the same address sooner or later, and the links between members stay.
func TestFloods(t *testing.T) {
	const clients, mostMemory = 400, 32 << 20
	count := nightly.Pick(1500, 16_384)
	w := newTown(t, "[[rule]]\nwho = \"client/honest\"\nlocks = \"*\"\nmay = [\"lock\", \"read\"]\n", func(c *node.Config) { c.Clients, c.Lease = clients, time.Minute })
	honest := w.order(cert.Client, "honest")
	budget := w.nodes[0].Budget()
	for kind := range visitors {
		t.Run(kind, func(t *testing.T) {
			epoch, before := w.nodes[0].Status().Epoch, memory()
			addresses := []string{w.api.g.Address().String()}
			if kind == "silent" || kind == "handshake" {
				addresses = append(addresses, w.nodes[0].Address())
			}
			flooded(t, kind, count, addresses...)
			eventually(t, "there is no more room", func() bool {
				_, all := budget.Used()
				return all >= transport.DefaultPending
			})
			for range 10 {
				other := w.api.from("127.0.0.2", honest)
				if _, status, reason := other.try("Cluster/Status", nil); status != http.StatusOK {
					t.Errorf("from another address: %d %s", status, reason)
				}
				if status, err := other.probe(); err != nil || status != http.StatusOK {
					t.Errorf("a probe from another address: %d %v", status, err)
				}
			}
			if _, all := budget.Used(); all > transport.DefaultPending+transport.Reserved {
				t.Errorf("%d connections have not identified themselves", all)
			}
			if more := memory() - before; more > mostMemory {
				t.Errorf("%d connections cost %d bytes", count, more)
			}
			w.serves(t, honest)
			s := w.nodes[0].Status()
			for _, m := range s.Members {
				if !m.Linked {
					t.Errorf("the link to %s is lost", m.Name)
				}
			}
			if len(s.Members) != 3 || s.Epoch != epoch {
				t.Errorf("%d members in epoch %d, and not 3 in epoch %d", len(s.Members), s.Epoch, epoch)
			}
		})
	}
}

// If the process may open few files only, idle connections at one address take none from the
// other one.
func TestFloodWithFewFiles(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 512
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
	w := newTown(t, "[[rule]]\nwho = \"client/honest\"\nlocks = \"*\"\nmay = [\"lock\", \"read\"]\n", func(c *node.Config) { c.Lease = time.Minute })
	flooded(t, "silent", 600, w.api.g.Address().String())
	w.serves(t, w.order(cert.Client, "honest"))
	w.logs[0].mu.Lock()
	defer w.logs[0].mu.Unlock()
	if bytes.Contains(w.logs[0].b.Bytes(), []byte("too many open files")) {
		t.Error("the files have run out")
	}
}
