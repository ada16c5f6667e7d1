// Beside measures locks over HTTP beside those of etcd, in one run: three members of each on
// loopback, in this process, and one client that acquires and releases a lock that no other
// process wants. It is a module of its own, so that etcd is no dependency of stile.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/stile-lock/stile/internal/live/gateway"
	pb "github.com/stile-lock/stile/internal/live/gateway/stilev1"
	"github.com/stile-lock/stile/internal/live/node"
)

const members = 3

// An entrant is a way to acquire and release a lock.
type entrant struct {
	name  string
	once  func(ctx context.Context) error
	spent []time.Duration
}

func main() {
	rounds := flag.Int("rounds", 500, "how often each way acquires and releases a lock")
	dir := flag.String("dir", "", "directory for etcd's data (default a temporary one)")
	flag.Parse()
	if err := run(*rounds, *dir); err != nil {
		log.Fatal(err)
	}
}

func run(rounds int, dir string) error {
	ctx := context.Background()
	work, err := os.MkdirTemp(dir, "beside")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	all, err := bareEntrants()
	if err != nil {
		return err
	}
	own, end, err := stileEntrants(ctx)
	defer end()
	if err != nil {
		return fmt.Errorf("stile: %w", err)
	}
	all = append(all, own...)
	for _, sync := range []bool{true, false} {
		more, end, err := etcdEntrants(ctx, filepath.Join(work, fmt.Sprint(sync)), sync)
		if err != nil {
			return fmt.Errorf("etcd: %w", err)
		}
		defer end()
		all = append(all, more...)
	}
	for i := range rounds + rounds/10 { // the first are not counted
		for k := range all {
			e := all[(i+k)%len(all)]
			for turn := range 2 { // the second counts, so that none pays for what the one before has left
				start := time.Now()
				if err := e.once(ctx); err != nil {
					return fmt.Errorf("%s: %w", e.name, err)
				}
				if turn == 1 && i >= rounds/10 {
					e.spent = append(e.spent, time.Since(start))
				}
			}
		}
	}
	report(os.Stdout, rounds, all)
	return nil
}

// report prints the medians, and their ratios to the first one.
func report(w io.Writer, rounds int, all []*entrant) {
	fmt.Fprintf(w, `Locks over HTTP beside etcd's, in one run of tools/beside ('make numbers-http').

Three members of stile and three of etcd on loopback, all in one process on a machine with
%d CPUs, whose load is above: compare the rows, and do not take the times for those of your
machine. One client acquires and releases a lock that no other process wants, %d
times in each way, in turns, each time after one that is not counted. stile keeps locks in
memory and protects them by leases; etcd writes each of them to the logs of its members. The
second rows of etcd are without fsync, so that the disk does not decide. Plain HTTP
everywhere. Bare round trips are calls that do nothing; the ratio is that to the first row.

%-52s %12s %10s %9s
`, runtime.NumCPU(), rounds, "lock and unlock", "median", "p90", "ratio")
	base := time.Duration(0)
	for _, e := range all {
		slices.Sort(e.spent)
		median := e.spent[len(e.spent)/2]
		if base == 0 {
			base = median
		}
		fmt.Fprintf(w, "%-52s %9d µs %7d µs %9.1f\n", e.name, median.Microseconds(), e.spent[len(e.spent)*9/10].Microseconds(), float64(median)/float64(base))
	}
}

// post posts JSON and decodes the answer.
func post(c *http.Client, url string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := c.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, r.Status, b)
	}
	return json.Unmarshal(b, out)
}

// overHTTP2 returns a client that speaks HTTP/2 without TLS.
func overHTTP2() *http.Client {
	t := &http.Transport{Protocols: new(http.Protocols)}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: t}
}

// bareEntrants makes two round trips that do nothing.
func bareEntrants() ([]*entrant, error) {
	const procedure = "/bare/Call"
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body)
		}
	})
	mux.Handle(procedure, connect.NewUnaryHandlerSimple(procedure, func(_ context.Context, in *pb.KeepAliveRequest) (*pb.ReleaseResponse, error) {
		return &pb.ReleaseResponse{Token: in.GetSession()}, nil
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{Handler: mux, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l) // until the process ends
	at, one := "http://"+l.Addr().String(), &http.Client{}
	call := connect.NewClient[pb.KeepAliveRequest, pb.ReleaseResponse](overHTTP2(), at+procedure, connect.WithGRPC())
	twice := func(f func(ctx context.Context) error) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			if err := f(ctx); err != nil {
				return err
			}
			return f(ctx)
		}
	}
	return []*entrant{
		{name: "two bare round trips, JSON over HTTP/1.1", once: twice(func(context.Context) error {
			return post(one, at, map[string]string{"session": "1234", "name": "x"}, &struct{}{})
		})},
		{name: "two bare round trips, gRPC", once: twice(func(ctx context.Context) error {
			_, err := call.CallUnary(ctx, connect.NewRequest(&pb.KeepAliveRequest{Session: "1234"}))
			return err
		})},
	}, nil
}

// stileEntrants starts a cluster of stile.
func stileEntrants(ctx context.Context) (all []*entrant, end func(), err error) {
	var nodes []*node.Node
	end = func() {
		for _, n := range nodes {
			n.Kill()
		}
	}
	for i := range members {
		c := node.Config{Name: string(rune('a' + i)), Listen: "127.0.0.1:0", Voters: members}
		if i > 0 {
			c.Join = []string{nodes[0].Address()}
		}
		n, err := node.Start(c)
		if err != nil {
			return nil, end, err
		}
		nodes = append(nodes, n)
		if err := n.Ready(ctx); err != nil {
			return nil, end, err
		}
	}
	g, err := gateway.New(nodes[0], gateway.Config{Listen: "127.0.0.1:0"})
	if err != nil {
		return nil, end, err
	}
	base, one := g.URL()+"/stile.v1.Locks/", &http.Client{}
	locks := pb.NewLocksClient(overHTTP2(), g.URL(), connect.WithGRPC())
	var session struct{ Session string }
	if err := post(one, base+"OpenSession", struct{}{}, &session); err != nil {
		return nil, end, err
	}
	type request struct {
		Session string `json:"session"`
		Name    string `json:"name"`
	}
	type held struct{ Held struct{ Token string } }
	count := 0
	overJSON := func(name func() string) func(context.Context) error {
		return func(context.Context) error {
			r, got := request{session.Session, name()}, held{}
			if err := post(one, base+"Acquire", r, &got); err != nil {
				return err
			}
			if got.Held.Token == "" {
				return fmt.Errorf("lock %s is not held", r.Name)
			}
			return post(one, base+"Release", r, &struct{}{})
		}
	}
	return []*entrant{
		{name: "stile, JSON over HTTP/1.1", once: overJSON(func() string { return "x" })},
		{name: "stile, JSON over HTTP/1.1, another lock each time", once: overJSON(func() string {
			count++
			return fmt.Sprint("x", count)
		})},
		{name: "stile, gRPC, a Hold stream for each hold", once: func(ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			s, err := locks.Hold(ctx, &pb.HoldRequest{Name: "y"})
			if err != nil {
				return err
			}
			for s.Receive() {
				if s.Msg().GetHeld() != nil {
					return nil
				}
			}
			return s.Err()
		}},
	}, end, nil
}

// free returns an address that is free.
func free() (url.URL, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return url.URL{}, err
	}
	defer l.Close()
	return url.URL{Scheme: "http", Host: l.Addr().String()}, nil
}

// etcdEntrants starts a cluster of etcd.
func etcdEntrants(ctx context.Context, dir string, sync bool) (all []*entrant, end func(), err error) {
	var configs []*embed.Config
	var cluster []string
	for i := range members {
		c := embed.NewConfig()
		c.Name, c.LogLevel, c.UnsafeNoFsync = fmt.Sprint("m", i), "panic", !sync
		c.Dir = filepath.Join(dir, c.Name)
		for _, urls := range []*[]url.URL{&c.ListenPeerUrls, &c.ListenClientUrls} {
			u, err := free()
			if err != nil {
				return nil, nil, err
			}
			*urls = []url.URL{u}
		}
		c.AdvertisePeerUrls, c.AdvertiseClientUrls = c.ListenPeerUrls, c.ListenClientUrls
		cluster = append(cluster, c.Name+"="+c.ListenPeerUrls[0].String())
		configs = append(configs, c)
	}
	var started []*embed.Etcd
	end = func() {
		for _, e := range started {
			e.Close()
		}
	}
	for _, c := range configs {
		c.InitialCluster = strings.Join(cluster, ",")
		e, err := embed.StartEtcd(c)
		if err != nil {
			end()
			return nil, nil, err
		}
		started = append(started, e)
	}
	leader := started[0]
	for _, e := range started {
		<-e.Server.ReadyNotify()
		if e.Server.Leader() == e.Server.MemberID() {
			leader = e // its clients need no further hop
		}
	}
	at := leader.Config().ListenClientUrls[0].String()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{at}, DialTimeout: 10 * time.Second})
	if err != nil {
		end()
		return nil, nil, err
	}
	stop := end
	end = func() { c.Close(); stop() }
	s, err := concurrency.NewSession(c)
	if err != nil {
		end()
		return nil, nil, err
	}
	name := " with fsync"
	if !sync {
		name = " without fsync"
	}
	mutex := concurrency.NewMutex(s, "/x")
	one := &http.Client{}
	return []*entrant{
		{name: "etcd" + name + ", Go client, concurrency.Mutex", once: func(ctx context.Context) error {
			if err := mutex.Lock(ctx); err != nil {
				return err
			}
			return mutex.Unlock(ctx)
		}},
		{name: "etcd" + name + ", JSON over HTTP/1.1, v3/lock", once: func(context.Context) error {
			var got struct{ Key string }
			in := map[string]any{"name": base64.StdEncoding.EncodeToString([]byte("y")), "lease": fmt.Sprint(int64(s.Lease()))}
			if err := post(one, at+"/v3/lock/lock", in, &got); err != nil {
				return err
			}
			return post(one, at+"/v3/lock/unlock", map[string]any{"key": got.Key}, &struct{}{})
		}},
	}, end, nil
}
