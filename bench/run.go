package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A race is a run in progress.
type race struct {
	*options
	*selection
	site   *site
	result *Result
	mu     sync.Mutex // guards the result where entrants run at the same time
	fleets map[string]*fleet
	since  time.Time

	repeated int // measurements, because of the background load
}

// failoverLease is how long leases are in the failover workloads.
const failoverLease = 3 * time.Second

// run measures. Everything that it starts has ended when it returns, and its folder is gone.
// With an error it returns what it has measured until then, or nothing.
func run(ctx context.Context, o *options, plan *selection) (*Result, error) {
	dir, err := os.MkdirTemp(o.dir, "stile-race-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL is another user
		return nil, err
	}
	k := newKeeper()
	defer k.end()
	r := &race{options: o, selection: plan, site: &site{keeper: k, dir: dir, lease: 10 * time.Second}, since: time.Now()}
	r.result = &Result{At: o.at, Date: time.Now().UTC().Format(time.DateOnly), Note: o.note, Machine: machine(), Disk: disk(dir), Versions: map[string]string{},
		Rounds: o.rounds, Seconds: o.seconds, Background: o.background, Missing: map[string]string{}}
	r.say("all of it takes at most %.0f minutes, if the machine has nothing else to do", math.Ceil(length(plan, o).Minutes()))
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	for _, stage := range []func(context.Context) error{r.atSpeed, r.inMemory, r.inFailover} {
		if err := stage(ctx); err != nil {
			return r.result, err
		}
		if ctx.Err() != nil {
			return r.result, errors.New("interrupted")
		}
	}
	r.say("done")
	r.result.Minutes = math.Ceil(time.Since(r.since).Minutes())
	return r.result, nil
}

// say reports progress.
func (r *race) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%5.0fs  %s\n", time.Since(r.since).Seconds(), fmt.Sprintf(format, args...))
}

// prepare builds programs and makes certificates, and leaves out entrants whose servers are
// not installed.
func (r *race) prepare(ctx context.Context) error {
	s := r.site
	for _, e := range r.entrants {
		if why := missing(e.servers); why != "" {
			r.leaveOut(e.servers, why)
		}
	}
	s.stile, s.etcd = filepath.Join(s.dir, "stile"), filepath.Join(s.dir, "etcd")
	r.say("building stile")
	if err := build(ctx, "..", s.stile, "./cmd/stile"); err != nil {
		return err
	}
	if r.needs(setEtcd) {
		r.say("building etcd")
		if err := build(ctx, "servers", s.etcd, "go.etcd.io/etcd/server/v3"); err != nil {
			r.say("%s", err)
			r.leaveOut(setEtcd, brief(err))
		}
	}
	r.versions(ctx)
	own := filepath.Join(s.dir, "own")
	certs := filepath.Join(s.dir, "certs")
	for _, d := range []string{own, certs} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	s.own = own
	orders := [][]string{{"ca"}, {"client", "race"}}
	for _, name := range append(append([]string{}, replicas[setStile]...), replicas[setEmbedded]...) {
		orders = append(orders, []string{"node", name, "--host", "127.0.0.1"})
	}
	for _, order := range orders {
		if out, err := exec.CommandContext(ctx, s.stile, append(append([]string{"cert"}, order...), "--dir", own)...).CombinedOutput(); err != nil {
			return fmt.Errorf("stile cert %s: %w: %s", strings.Join(order, " "), err, out)
		}
	}
	var err error
	s.certs, err = makeCerts(certs)
	return err
}

// leaveOut removes the entrants that need a set of servers.
func (r *race) leaveOut(set, why string) {
	r.entrants = slices.DeleteFunc(slices.Clone(r.entrants), func(e *entrant) bool {
		if e.servers == set {
			r.result.Missing[e.Name] = why
			r.say("%s is left out: %s", e.Name, why)
		}
		return e.servers == set
	})
}

func build(ctx context.Context, in, out, what string) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", out, what)
	c.Dir = in
	if b, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", what, err, b)
	}
	return nil
}

// needs reports whether an entrant uses a set of servers.
func (r *race) needs(set string) bool {
	return slices.ContainsFunc(r.entrants, func(e *entrant) bool { return e.servers == set })
}

// missing returns why a set of servers cannot run here, or nothing.
func missing(set string) string {
	var err error
	switch set {
	case setRedis, setRedlock:
		_, err = exec.LookPath("redis-server")
	case setPostgres:
		_, err = program("initdb")
	case setZoo:
		if _, err = exec.LookPath("java"); err == nil {
			_, err = os.Stat("/usr/share/java/zookeeper.jar")
		}
	}
	if err != nil {
		return "its server is not installed: run 'make race' as root on Debian, or install it"
	}
	return ""
}

// versions asks the programs for their versions.
func (r *race) versions(ctx context.Context) {
	postgres, _ := program("postgres")
	for name, line := range map[string][]string{
		"Redis": {"redis-server", "--version"}, "PostgreSQL": {postgres, "--version"}, "etcd": {r.site.etcd, "--version"},
		"ZooKeeper": {"dpkg-query", "-W", "-f", "${Version}", "zookeeper"}, "Go": {"go", "version"},
	} {
		out, err := exec.CommandContext(ctx, line[0], line[1:]...).Output()
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(out)) {
			word = strings.TrimPrefix(strings.TrimPrefix(word, "v="), "go")
			if word != "" && word[0] >= '0' && word[0] <= '9' {
				r.result.Versions[name] = word
				break
			}
		}
	}
}

// machine describes the machine.
func machine() string {
	model := "unknown processor"
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("%s, %d cores, %s", model, runtime.NumCPU(), runtime.GOOS+"/"+runtime.GOARCH)
}

// disk returns what the servers write to.
func disk(dir string) string {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) == nil && s.Type == 0x01021994 {
		return "memory (tmpfs): nothing here is durable; use -dir"
	}
	return "disk"
}

// of returns the entrants of workloads of some sorts.
func (r *race) of(sorts ...string) (all []*entrant) {
	for _, e := range r.entrants {
		if slices.ContainsFunc(r.workloads, func(w *workload) bool { return slices.Contains(sorts, w.sort) && w.runs(e) }) {
			all = append(all, e)
		}
	}
	return all
}

// open starts the servers of entrants, in parallel. An entrant without servers is left out.
func (r *race) open(ctx context.Context, all []*entrant) {
	r.fleets = map[string]*fleet{}
	var sets []string
	for _, e := range all {
		if !slices.Contains(sets, e.servers) {
			sets = append(sets, e.servers)
		}
	}
	var wg sync.WaitGroup
	for _, set := range sets {
		wg.Go(func() {
			f, err := r.site.open(ctx, set)
			r.mu.Lock()
			defer r.mu.Unlock()
			if err == nil {
				r.fleets[set] = f
				return
			}
			r.say("%s: %s", set, brief(err))
			for _, e := range all {
				if e.servers == set {
					r.result.Missing[e.Name] = brief(err)
				}
			}
		})
	}
	wg.Wait()
}

// close stops all servers.
func (r *race) close() {
	var wg sync.WaitGroup
	for _, f := range r.fleets {
		wg.Go(f.stop)
	}
	wg.Wait()
	r.fleets = nil
}
