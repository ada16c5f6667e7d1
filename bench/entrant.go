package main

// The kinds of clients that a worker can open.
const (
	kindStile    = "stile"    // stile.Dial
	kindGRPC     = "grpc"     // gRPC, one stream for each hold
	kindJSON     = "json"     // JSON over HTTP/1.1
	kindEmbedded = "embedded" // stile.Open
	kindEtcd     = "etcd"
	kindZoo      = "zookeeper"
	kindRedis    = "redis"
	kindPostgres = "postgres"
)

// The sets of servers that entrants use.
const (
	setStile    = "stile"
	setPlain    = "stile-plain"
	setEmbedded = "stile-embedded" // its workers are the nodes
	setEtcd     = "etcd"
	setZoo      = "zookeeper"
	setRedis    = "redis"
	setRedlock  = "redlock"
	setPostgres = "postgres"
)

// An entrant is a way to acquire and release locks.
type entrant struct {
	Name     string `json:"name"`
	Title    string `json:"title"`  // for the page
	Client   string `json:"client"` // what the program uses
	Security string `json:"security"`
	Promises        // what the numbers are worth
	kind     string
	servers  string
	prefix   string // of the names of its locks
	ours     bool
	main     bool // measured in the workloads that need servers of their own
}

// Promises are what a lock service gives and what it does not.
type Promises struct {
	Replicated string `json:"replicated"`
	Durable    string `json:"durable"`
	Fenced     string `json:"fenced"`
	Fair       string `json:"fair"`
}

var (
	ofStile    = Promises{"3 nodes", "views, not holds", "token", "at each node"}
	ofEtcd     = Promises{"3 nodes", "every hold, fsync", "revision", "in order"}
	ofZoo      = Promises{"3 nodes", "every hold, fsync", "zxid", "in order"}
	ofRedis    = Promises{"no", "snapshots", "no", "no"}
	ofRedlock  = Promises{"5, no log", "snapshots", "no", "no"}
	ofPostgres = Promises{"no", "no", "no", "in order"}
)

// entrants are all entrants, in the order of the tables.
var entrants = []*entrant{
	{Name: "stile", Title: "stile, Go client", Client: "stile.Dial", Security: "TLS", Promises: ofStile, kind: kindStile, servers: setStile, ours: true, main: true},
	{Name: "stile-embedded", Title: "stile, embedded", Client: "stile.Open", Security: "TLS", Promises: ofStile, kind: kindEmbedded, servers: setEmbedded, ours: true, main: true},
	{Name: "stile-central", Title: "stile, algorithm central", Client: "stile.Dial", Security: "TLS", Promises: ofStile, kind: kindStile, servers: setStile, prefix: "central/", ours: true},
	{Name: "stile-raymond", Title: "stile, algorithm raymond", Client: "stile.Dial", Security: "TLS", Promises: ofStile, kind: kindStile, servers: setStile, prefix: "raymond/", ours: true},
	{Name: "stile-grpc", Title: "stile, gRPC", Client: "Hold streams", Security: "TLS", Promises: ofStile, kind: kindGRPC, servers: setStile, ours: true},
	{Name: "stile-json", Title: "stile, JSON", Client: "HTTP/1.1", Security: "TLS", Promises: ofStile, kind: kindJSON, servers: setStile, ours: true},
	{Name: "etcd", Title: "etcd", Client: "clientv3/concurrency", Security: "TLS", Promises: ofEtcd, kind: kindEtcd, servers: setEtcd, main: true},
	{Name: "zookeeper", Title: "ZooKeeper", Client: "go-zookeeper", Security: "TLS", Promises: ofZoo, kind: kindZoo, servers: setZoo, main: true},
	{Name: "redis", Title: "Redis, 1 node", Client: "redsync", Security: "TLS", Promises: ofRedis, kind: kindRedis, servers: setRedis, main: true},
	{Name: "redlock", Title: "Redis, 5 nodes (Redlock)", Client: "redsync", Security: "TLS", Promises: ofRedlock, kind: kindRedis, servers: setRedlock, main: true},
	{Name: "postgres", Title: "PostgreSQL advisory locks", Client: "pgx", Security: "TLS", Promises: ofPostgres, kind: kindPostgres, servers: setPostgres, main: true},
	{Name: "stile-plain", Title: "stile, Go client", Client: "stile.Dial", Security: "plain", Promises: ofStile, kind: kindStile, servers: setPlain, ours: true},
	{Name: "redis-plain", Title: "Redis, 1 node", Client: "redsync", Security: "plain", Promises: ofRedis, kind: kindRedis, servers: setRedis},
	{Name: "postgres-plain", Title: "PostgreSQL advisory locks", Client: "pgx", Security: "plain", Promises: ofPostgres, kind: kindPostgres, servers: setPostgres},
}

// plain reports whether the entrant's clients use no TLS.
func (e *entrant) plain() bool { return e.Security == "plain" }

// named returns the entrant with this name, or nil.
func named(name string) *entrant {
	for _, e := range entrants {
		if e.Name == name {
			return e
		}
	}
	return nil
}
