package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// replicas lists the names of the servers of each set.
var replicas = map[string][]string{
	setStile: {"a", "b", "c"}, setPlain: {"a", "b", "c"}, setEmbedded: {"e1", "e2", "e3"},
	setEtcd: {"a", "b", "c"}, setZoo: {"1", "2", "3"},
	setRedis: {"1"}, setRedlock: {"1", "2", "3", "4", "5"}, setPostgres: {"1"},
}

// A site is what all servers of a run need.
type site struct {
	keeper *keeper
	dir    string
	stile  string // the programs
	etcd   string
	own    string // folder of stile's certificates
	certs  files  // of the others
	lease  time.Duration
}

// A fleet is a set of servers that run.
type fleet struct {
	name    string
	site    *site
	all     []*process
	addrs   []string // that clients connect to, with TLS unless the set has none
	plain   []string // that clients without TLS connect to
	http    []string // of stile
	leader  func(ctx context.Context) (int, error)
	workers []*worker // whose nodes they are, of embedded nodes
	dirs    []string  // of these nodes
}

// open starts a set of servers in a folder of its own.
func (s *site) open(ctx context.Context, set string) (*fleet, error) {
	dir, err := os.MkdirTemp(s.dir, set+"-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	f := &fleet{name: set, site: s, leader: func(context.Context) (int, error) { return 0, nil }}
	start := map[string]func(context.Context, string) error{
		setStile: f.stile, setPlain: f.stile, setEmbedded: f.embedded, setEtcd: f.etcd, setZoo: f.zoo,
		setRedis: f.redis, setRedlock: f.redis, setPostgres: f.postgres,
	}[set]
	if err := start(ctx, dir); err != nil {
		f.stop()
		return nil, err
	}
	return f, nil
}

// stop ends all servers.
func (f *fleet) stop() { stopAll(f.all) }

// pids returns the processes of the servers.
func (f *fleet) pids() (all []int) {
	for _, p := range f.all {
		all = append(all, p.cmd.Process.Pid)
	}
	return all
}

// launch starts a server of the set.
func (f *fleet) launch(ctx context.Context, p *process) error {
	f.all = append(f.all, p)
	return f.site.keeper.start(ctx, p)
}

// together starts servers that wait for each other.
func (f *fleet) together(ctx context.Context, all []*process) error {
	f.all = all
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() { errs[i] = f.site.keeper.start(ctx, p) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// certOf returns the certificate that 'stile cert' has made for a name.
func (s *site) certOf(name string) files {
	return files{filepath.Join(s.own, "ca.crt"), filepath.Join(s.own, name+".crt"), filepath.Join(s.own, name+".key")}
}

func (f *fleet) stile(ctx context.Context, dir string) error {
	ports, err := frees(6)
	if err != nil {
		return err
	}
	f.addrs, f.plain, f.http = ports[:3], ports[:3], ports[3:]
	for i, name := range replicas[f.name] {
		data := filepath.Join(dir, name)
		p := &process{name: "stile " + name, path: f.site.stile, dir: dir, args: []string{
			"serve", "--name", name, "--listen", f.addrs[i], "--http", f.http[i], "--data", data, "--log-level", "error"}}
		if f.name == setStile {
			c := f.site.certOf(name)
			p.args = append(p.args, "--ca", c.CA, "--cert", c.Cert, "--key", c.Key)
		}
		if i == 0 {
			p.args = append(p.args, "--algorithm", "naimi-trehel,kept/=kept,central/=central,raymond/=raymond", "--lease", f.site.lease.String())
		} else {
			p.args = append(p.args, "--join", f.addrs[0])
		}
		p.up = func(ctx context.Context) error { _, err := f.status(ctx, f.addrs[i]); return err }
		if err := f.launch(ctx, p); err != nil {
			return err
		}
	}
	f.leader = f.stileLeader
	return nil
}

// status asks a node of stile which node leads, as far as it knows. It fails if the node is
// not an active member.
func (f *fleet) status(ctx context.Context, address string) (leader string, err error) {
	args := []string{"status", "--json", "--addr", address}
	if f.name != setPlain {
		c := f.site.certOf("race")
		args = append(args, "--ca", c.CA, "--cert", c.Cert, "--key", c.Key)
	}
	out, err := exec.CommandContext(ctx, f.site.stile, args...).Output()
	if err != nil {
		return "", fmt.Errorf("stile status: %w", err)
	}
	var is struct{ Leader, State string }
	if err := json.Unmarshal(out, &is); err != nil {
		return "", err
	}
	if is.State != "member" {
		return "", fmt.Errorf("stile status: state %s", is.State)
	}
	return is.Leader, nil
}

func (f *fleet) stileLeader(ctx context.Context) (int, error) {
	for _, a := range f.addrs {
		name, err := f.status(ctx, a)
		if err != nil {
			continue
		}
		for i, n := range replicas[f.name] {
			if n == name {
				return i, nil
			}
		}
	}
	return 0, errors.New("no node knows the leader")
}

func (f *fleet) redis(ctx context.Context, dir string) error {
	for _, name := range replicas[f.name] {
		ports, err := frees(2)
		if err != nil {
			return err
		}
		f.addrs, f.plain = append(f.addrs, ports[0]), append(f.plain, ports[1])
		data := filepath.Join(dir, name)
		if err := os.Mkdir(data, 0o700); err != nil {
			return err
		}
		c := f.site.certs
		p := &process{name: "redis " + name, path: "redis-server", dir: data, up: listens(ports[0]), args: []string{
			"--bind", "127.0.0.1", "--port", port(ports[1]), "--tls-port", port(ports[0]), "--dir", data, "--maxclients", "4000",
			"--tls-ca-cert-file", c.CA, "--tls-cert-file", c.Cert, "--tls-key-file", c.Key}}
		if err := f.launch(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}

// program returns a program of PostgreSQL; Debian keeps them out of the path.
func program(name string) (string, error) {
	if all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(all) > 0 {
		return all[len(all)-1], nil
	}
	return exec.LookPath(name)
}

func (f *fleet) postgres(ctx context.Context, dir string) error {
	initdb, err := program("initdb")
	if err != nil {
		return err
	}
	server, err := program("postgres")
	if err != nil {
		return err
	}
	at, err := frees(1)
	if err != nil {
		return err
	}
	f.addrs, f.plain = at, at
	for _, path := range []string{f.site.certs.Cert, f.site.certs.Key} { // a key must belong to the server's user
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(path)), b, 0o600)
		}
		if err != nil {
			return err
		}
	}
	if os.Getuid() == 0 {
		for _, path := range []string{dir, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")} {
			if err := os.Chown(path, unprivileged, unprivileged); err != nil {
				return err
			}
		}
	}
	data := filepath.Join(dir, "data")
	env := []string{"LC_ALL=C"}
	first := &process{name: "initdb", path: initdb, dir: dir, env: env, user: true, args: []string{"-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"}}
	if err := f.site.keeper.start(ctx, first); err != nil {
		return err
	}
	<-first.done
	p := &process{name: "postgres", path: server, dir: dir, env: env, user: true, end: os.Interrupt, args: []string{
		"-D", data, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + port(at[0]), "-c", "max_connections=700",
		"-c", "ssl=on", "-c", "ssl_cert_file=" + filepath.Join(dir, "cert.pem"), "-c", "ssl_key_file=" + filepath.Join(dir, "key.pem")}}
	p.up = func(ctx context.Context) error {
		c, err := openPostgres(ctx, &access{Addrs: at})
		if err != nil {
			return err
		}
		return c.close()
	}
	return f.launch(ctx, p)
}

func (f *fleet) zoo(ctx context.Context, dir string) error {
	ports, err := frees(12)
	if err != nil {
		return err
	}
	f.addrs, f.plain = ports[:3], ports[3:6]
	var servers strings.Builder
	for i, id := range replicas[setZoo] {
		fmt.Fprintf(&servers, "server.%s=%s:%s\n", id, ports[6+i], port(ports[9+i]))
	}
	all := filepath.Join(filepath.Dir(f.site.certs.CA), "all.pem")
	var start []*process
	for i, id := range replicas[setZoo] {
		data := filepath.Join(dir, id)
		if err := os.MkdirAll(data, 0o700); err != nil {
			return err
		}
		config := fmt.Sprintf(`tickTime=1000
initLimit=10
syncLimit=5
dataDir=%s
clientPort=%s
clientPortAddress=127.0.0.1
secureClientPort=%s
secureClientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=srvr
serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
ssl.keyStore.location=%[4]s
ssl.keyStore.type=PEM
ssl.trustStore.location=%[5]s
ssl.trustStore.type=PEM
ssl.clientAuth=none
sslQuorum=true
ssl.quorum.keyStore.location=%[4]s
ssl.quorum.keyStore.type=PEM
ssl.quorum.trustStore.location=%[5]s
ssl.quorum.trustStore.type=PEM
ssl.quorum.hostnameVerification=false
%[6]s`, data, port(f.plain[i]), port(f.addrs[i]), all, f.site.certs.CA, servers.String())
		path := filepath.Join(dir, "zoo"+id+".cfg")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(data, "myid"), []byte(id+"\n"), 0o600); err != nil {
			return err
		}
		start = append(start, &process{name: "zookeeper " + id, path: "java", dir: dir,
			args: []string{"-cp", zooClasses, "-Xmx512m", "-Dzookeeper.log.level=WARN", "-XX:-UsePerfData", "org.apache.zookeeper.server.quorum.QuorumPeerMain", path},
			up:   func(ctx context.Context) error { _, err := zooMode(ctx, f.plain[i]); return err }})
	}
	f.leader = f.zooLeader
	return f.together(ctx, start)
}

// zooClasses are the classes of Debian's ZooKeeper.
const zooClasses = "/usr/share/java/zookeeper.jar:/usr/share/java/zookeeper-jute.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar:/usr/share/java/netty-all.jar:/usr/share/java/metrics-core.jar:/usr/share/java/snappy-java.jar:/usr/share/java/commons-cli.jar:/usr/share/java/*"

// zooMode asks a server of ZooKeeper whether it leads or follows.
func zooMode(ctx context.Context, address string) (string, error) {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write([]byte("srvr")); err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	n := 0
	for n < len(b) {
		k, err := c.Read(b[n:])
		n += k
		if err != nil {
			break
		}
	}
	if _, mode, ok := strings.Cut(string(b[:n]), "Mode: "); ok {
		mode, _, _ = strings.Cut(mode, "\n")
		return mode, nil
	}
	return "", fmt.Errorf("it answers %q", b[:min(n, 100)])
}

func (f *fleet) zooLeader(ctx context.Context) (int, error) {
	for i, a := range f.plain {
		if mode, err := zooMode(ctx, a); err == nil && mode == "leader" {
			return i, nil
		}
	}
	return 0, errors.New("no server of ZooKeeper leads")
}
