package gateway

import (
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// serveKept starts a node with several kinds of kept locks, and its gateway.
func serveKept(t *testing.T, changes ...func(*node.Config)) *api {
	t.Helper()
	return serve(t, func(c *node.Config) {
		c.Algorithm = "naimi-trehel,kept/=kept,wound/=kept:wound-wait"
		for _, change := range changes {
			change(c)
		}
	})
}

// with returns an object with further fields.
func (o object) with(more object) object {
	all := object{}
	for _, some := range []object{o, more} {
		for k, v := range some {
			all[k] = v
		}
	}
	return all
}

// A lock has several holders that share it, and lists show all of them.
func TestShared(t *testing.T) {
	a := serveKept(t)
	one, two := a.open(object{"label": "one"}), a.open(object{"label": "two"})
	shared := object{"name": "kept/x", "shared": true}
	first := a.call("Locks/Acquire", shared.with(object{"session": one}))
	if first.at("held", "mode") != "shared" {
		t.Errorf("acquired: %v", first)
	}
	if out := a.call("Locks/TryAcquire", object{"session": two, "name": "kept/x"}); out.at("busy") == nil {
		t.Errorf("a writer beside a reader: %v", out)
	}
	second := a.call("Locks/TryAcquire", shared.with(object{"session": two, "value": "page 7"}))
	if second.at("held") == nil {
		t.Errorf("no second reader: %v", second)
	}
	a.fails(badRequest, "Locks/Acquire", object{"session": one, "name": "kept/x"}) // in another mode
	a.call("Locks/Acquire", object{"session": one, "name": "kept/x", "key": "writer", "wait": "0s"})
	eventually(t, "the list has both readers and the writer", func() bool {
		all, _ := a.call("Cluster/ListLocks", object{"prefix": "kept/x"}).at("locks").([]any)
		if len(all) != 1 {
			return false
		}
		l := object(all[0].(map[string]any))
		others, _ := l.at("others").([]any)
		waiters, _ := l.at("waiters").([]any)
		if len(others) != 1 || len(waiters) != 1 {
			return false
		}
		other, waiter := object(others[0].(map[string]any)), object(waiters[0].(map[string]any))
		return l.at("holder", "mode") == "shared" && other.at("mode") == "shared" && other.at("value") == "page 7" && other.at("label") == "two" &&
			other.at("tx") != nil && waiter.at("mode") == "exclusive"
	})
	a.release(one, object{"name": "kept/x", "token": first.at("held", "token")})
	a.release(two, object{"name": "kept/x", "token": second.at("held", "token")})
	if out := a.call("Locks/Acquire", object{"session": one, "name": "kept/x", "key": "writer"}); out.at("held", "mode") != "exclusive" {
		t.Errorf("the writer: %v", out)
	}
}

// Watches report that another holder shares a lock, or has another value.
func TestWatchShared(t *testing.T) {
	w := watch{seed: maphash.MakeSeed()}
	holder := func(token, value string) survey.Holder {
		return survey.Holder{Node: "a", HolderInfo: node.HolderInfo{Token: token, Value: value}}
	}
	one, two, three := holder("1.1", ""), holder("1.2", ""), holder("1.2", "v")
	seen := map[uint64]bool{}
	for _, l := range []survey.Lock{{Holder: &one}, {Holder: &one, Shared: []survey.Holder{two}}, {Holder: &one, Shared: []survey.Holder{three}}} {
		seen[w.print(&l)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d of 3 are different", len(seen))
	}
}

// Holders of a semaphore have some of its units.
func TestUnits(t *testing.T) {
	a := serveKept(t)
	one, two := a.open(nil), a.open(nil)
	try := func(session string, units, of int) object {
		t.Helper()
		return a.call("Locks/TryAcquire", object{"session": session, "name": "kept/s", "units": units, "of": of})
	}
	if out := try(one, 2, 3); out.at("held", "mode") != "units" {
		t.Errorf("two units: %v", out)
	}
	if out := try(two, 2, 3); out.at("busy") == nil {
		t.Errorf("four units of three: %v", out)
	}
	if out := try(two, 1, 3); out.at("held") == nil {
		t.Errorf("the last unit: %v", out)
	}
	all, _ := a.call("Cluster/ListLocks", object{"prefix": "kept/s"}).at("locks").([]any)
	if l := object(all[0].(map[string]any)); l.at("holder", "units") != 2.0 || l.at("holder", "of") != 3.0 || l.at("holder", "mode") != "units" {
		t.Errorf("listed: %v", l)
	}
}

// A mode that a lock cannot have is an error that says so, and not that no node answers.
func TestBadModes(t *testing.T) {
	a := serveKept(t)
	s := a.open(nil)
	in := object{"session": s, "name": "kept/s"}
	a.call("Locks/Acquire", in.with(object{"units": 1, "of": 3}))
	for _, method := range []string{"Locks/Acquire", "Locks/TryAcquire"} {
		for _, bad := range []object{
			{"units": 0, "of": 3}, {"units": 0}, {"units": 1}, {"of": 3}, {"units": 4, "of": 3}, {"units": 1, "of": 1 << 30},
			{"shared": true, "units": 1, "of": 3}, {"shared": true, "units": 0}, {"value": string(make([]byte, 257))},
		} {
			a.fails(badRequest, method, in.with(bad).with(object{"key": "k"}))
		}
		a.fails(isDeclined, method, in.with(object{"units": 1, "of": 4, "key": "k"})) // another number
		a.fails(isDeclined, method, object{"session": s, "name": "ordinary", "shared": true})
		a.fails(isDeclined, method, object{"session": s, "name": "ordinary", "units": 1, "of": 2})
	}
	a.fails(noTx, "Locks/Acquire", in.with(object{"transaction": "7"}))
}

// A right to lock is needed in every mode, and within transactions.
func TestKeptRights(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rights.toml")
	if err := os.WriteFile(file, []byte("[[rule]]\nwho = 'anyone'\nlocks = 'kept/mine/*'\nmay = 'lock'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := serve(t, func(c *node.Config) { c.Rights = file })
	s := a.open(nil)
	tx := a.call("Locks/Begin", object{"session": s}).at("transaction")
	for _, mode := range []object{{}, {"shared": true}, {"units": 1, "of": 2}, {"transaction": tx}, {"transaction": tx, "shared": true}} {
		a.fails(isDenied, "Locks/Acquire", object{"session": s, "name": "kept/theirs/x"}.with(mode))
	}
	a.call("Locks/Acquire", object{"session": s, "name": "kept/mine/x", "transaction": tx, "shared": true})
	a.call("Locks/Commit", object{"session": s, "transaction": tx})
	a.fails(isDenied, "Cluster/Leader", object{"name": "kept/theirs/x"})
}

// A session with a transaction, as a client that speaks JSON sees it.
type txAPI struct {
	*api
	session, tx string
}

func (a *api) begin() *txAPI {
	a.t.Helper()
	s := a.open(nil)
	return &txAPI{a, s, a.call("Locks/Begin", object{"session": s}).at("transaction").(string)}
}

// about returns the fields of a request about the transaction.
func (x *txAPI) about(more object) object {
	return object{"session": x.session, "transaction": x.tx}.with(more)
}

func (x *txAPI) acquire(name string) { x.call("Locks/Acquire", x.about(object{"name": name})) }

// free waits until a lock is not held.
func (a *api) free(name string) {
	a.t.Helper()
	s := a.open(nil)
	eventually(a.t, name+" is free", func() bool {
		return a.call("Locks/TryAcquire", object{"session": s, "name": name}).at("held") != nil
	})
	a.call("Locks/CloseSession", object{"session": s})
}

// A transaction acquires locks in all modes and releases them together, once.
func TestTransaction(t *testing.T) {
	a := serveKept(t)
	x := a.begin()
	first := x.call("Locks/Acquire", x.about(object{"name": "kept/a"})).at("held", "token")
	if again := x.call("Locks/Acquire", x.about(object{"name": "kept/a"})).at("held", "token"); again != first {
		t.Errorf("token %v, then %v", first, again)
	}
	a.fails(isDeclined, "Locks/Acquire", x.about(object{"name": "kept/a", "key": "again"}))
	x.call("Locks/Acquire", x.about(object{"name": "kept/b", "shared": true, "value": "v"}))
	x.call("Locks/Acquire", x.about(object{"name": "kept/c", "units": 2, "of": 3}))
	a.fails(isDeclined, "Locks/Acquire", x.about(object{"name": "ordinary"}))
	a.fails(isDeclined, "Locks/Acquire", x.about(object{"name": "wound/a"})) // another method
	a.fails(isDeclined, "Locks/Release", x.about(object{"name": "kept/a"}))  // not alone
	a.fails(noRequest, "Locks/Release", object{"session": x.session, "name": "kept/a"})
	x.call("Locks/SetValue", x.about(object{"name": "kept/a", "value": "v"}))
	if out := x.call("Locks/KeepAlive", object{"session": x.session}); span(t, out.at("validFor")) <= 0 || out.at("mustAbort") != nil {
		t.Errorf("kept alive: %v", out)
	}
	a.fails(noSession, "Locks/Commit", object{"transaction": x.tx})
	a.fails(noTx, "Locks/Commit", object{"session": x.session})
	a.fails(noTx, "Locks/Commit", object{"session": x.session, "transaction": "77"})
	a.fails(noTx, "Locks/Abort", object{"session": a.open(nil), "transaction": x.tx}) // of another session
	for range 2 {
		x.call("Locks/Commit", x.about(nil))
		x.call("Locks/Abort", x.about(nil)) // too late
		a.fails(isReleased, "Locks/Retry", x.about(nil))
		a.fails(isReleased, "Locks/Acquire", x.about(object{"name": "kept/a"}))
	}
	for _, name := range []string{"kept/a", "kept/b", "kept/c"} {
		a.free(name)
	}
	y := a.begin()
	y.acquire("kept/a")
	for range 2 {
		y.call("Locks/Abort", y.about(nil))
	}
	a.fails(isReleased, "Locks/Commit", y.about(nil))
	a.free("kept/a")
}

// A request of a transaction can be withdrawn, and the transaction goes on.
func TestTransactionWithdraws(t *testing.T) {
	a := serveKept(t)
	x, y := a.begin(), a.begin()
	x.acquire("kept/a")
	y.acquire("kept/b")
	wait := y.about(object{"name": "kept/a", "wait": "0s"})
	if out := a.call("Locks/Acquire", wait); out.at("waiting") == nil {
		t.Errorf("two holders: %v", out)
	}
	eventually(t, "it waits in line", func() bool { return a.call("Locks/Acquire", wait).at("waiting", "position") == 1.0 })
	a.fails(isDeclined, "Locks/Acquire", y.about(object{"name": "kept/c"})) // one at a time
	for range 2 {
		a.call("Locks/Release", y.about(object{"name": "kept/a"}))
	}
	y.acquire("kept/c")
	a.call("Locks/Acquire", y.about(object{"name": "kept/a", "wait": "0s"}))
	a.call("Locks/Commit", y.about(nil)) // the request that waits is withdrawn
	a.call("Locks/Commit", x.about(nil))
	a.free("kept/a")
}

// The locks of a transaction are free when its session expires.
func TestTransactionExpires(t *testing.T) {
	a := serveKept(t)
	s := a.open(object{"length": "1s"})
	x := &txAPI{a, s, a.call("Locks/Begin", object{"session": s}).at("transaction").(string)}
	x.acquire("kept/a")
	x.acquire("kept/b")
	y := a.begin()
	for _, name := range []string{"kept/a", "kept/b"} {
		if out := a.call("Locks/Acquire", y.about(object{"name": name})); out.at("held") == nil {
			t.Errorf("a silent session keeps %s: %v", name, out)
		}
	}
	a.fails(noSession, "Locks/Commit", x.about(nil))
}

// One of two transactions that wait for each other must abort, learns the cycle as data, and
// begins again as old as before.
func TestDeadlock(t *testing.T) {
	a := serveKept(t)
	all := []*txAPI{a.begin(), a.begin()}
	names := []string{"kept/a", "kept/b"}
	for i, x := range all {
		x.acquire(names[i])
	}
	type answer struct {
		who    *txAPI
		out    object
		status int
		reason string
	}
	answers := make(chan answer, 2)
	for i, x := range all {
		go func() {
			out, status, reason := x.try("Locks/Acquire", x.about(object{"name": names[1-i]}))
			answers <- answer{x, out, status, reason}
		}()
	}
	victim := <-answers
	if victim.reason != mustAbort.reason || victim.out.at("code") != "aborted" {
		t.Fatalf("the first that ends: %v, reason %q", victim.out, victim.reason)
	}
	details, _ := victim.out.at("details").([]any)
	if len(details) != 1 {
		t.Fatalf("details: %v", victim.out)
	}
	d := object(details[0].(map[string]any))
	waits, _ := d.at("debug", "waits").([]any)
	if d.at("type") != "stile.v1.Deadlock" || d.at("debug", "how") != "cycle" || d.at("debug", "why") == nil || len(waits) != 2 {
		t.Errorf("detail: %v", d)
	}
	seen := map[any]bool{}
	for _, w := range waits {
		w := object(w.(map[string]any))
		seen[w.at("lock")] = w.at("node") == "a" && w.at("tx") != nil
	}
	if !seen["kept/a"] || !seen["kept/b"] {
		t.Errorf("the cycle is %v", waits)
	}
	x := victim.who
	if out := a.call("Locks/KeepAlive", object{"session": x.session}); fmt.Sprint(out.at("mustAbort")) == "<nil>" {
		t.Errorf("kept alive: %v", out)
	}
	a.fails(mustAbort, "Locks/Acquire", x.about(object{"name": "kept/c"}))
	for range 2 {
		a.fails(mustAbort, "Locks/Commit", x.about(nil))
	}
	other := <-answers
	if other.status != 200 {
		t.Errorf("the other: %v", other.out)
	}
	a.call("Locks/Commit", other.who.about(nil))
	before := a.attempt(x)
	old := x.about(nil)
	next := a.call("Locks/Retry", old).at("transaction")
	if again := a.call("Locks/Retry", old).at("transaction"); again != next || next == x.tx {
		t.Errorf("transactions %v, %v and %v", x.tx, next, again)
	}
	a.fails(isReleased, "Locks/Acquire", object{"name": "kept/a"}.with(old)) // delayed on its way
	x.tx = next.(string)
	x.acquire("kept/a")
	if a.attempt(x) != before {
		t.Error("it is another transaction, which is younger")
	}
	x.acquire("kept/b")
	a.call("Locks/Commit", x.about(nil))
}

// attempt returns the transaction of which x is an attempt. It keeps the age.
func (a *api) attempt(x *txAPI) *lock.Tx {
	a.g.sessions.mu.Lock()
	s := a.g.sessions.all[x.session]
	a.g.sessions.mu.Unlock()
	t, err := s.transaction(x.tx)
	if err != nil {
		a.t.Fatal(err)
	}
	defer t.mu.Unlock()
	return t.tx
}

// A younger holder learns from KeepAlive that an older transaction waits. It still holds its
// locks, and may commit.
func TestWounded(t *testing.T) {
	a := serveKept(t)
	older, younger := a.begin(), a.begin()
	older.acquire("wound/first")
	younger.acquire("wound/x")
	plain := a.open(nil)
	a.call("Locks/Acquire", object{"session": plain, "name": "wound/y", "key": "k"})
	out := func(s string) object { return a.call("Locks/KeepAlive", object{"session": s}) }
	wanted := func(s string) object {
		all, _ := out(s).at("mustAbort").([]any)
		if len(all) != 1 {
			return nil
		}
		return object(all[0].(map[string]any))
	}
	if wanted(younger.session) != nil || wanted(plain) != nil {
		t.Error("it must abort before another one waits")
	}
	a.call("Locks/Acquire", older.about(object{"name": "wound/x", "wait": "0s"}))
	eventually(t, "the younger one learns it", func() bool { return wanted(younger.session) != nil })
	w := wanted(younger.session)
	if w.at("transaction") != younger.tx || w.at("deadlock", "how") != "wounded" || span(t, out(younger.session).at("validFor")) <= 0 {
		t.Errorf("kept alive: %v", w)
	}
	a.fails(mustAbort, "Locks/Acquire", younger.about(object{"name": "wound/z"}))
	a.call("Locks/Abort", younger.about(nil))
	if wanted(younger.session) != nil {
		t.Error("it must abort after it has")
	}
	older.acquire("wound/x")
	a.call("Locks/Acquire", older.about(object{"name": "wound/y", "wait": "0s"}))
	eventually(t, "a lock outside of transactions", func() bool { return wanted(plain) != nil })
	if w := wanted(plain); w.at("transaction") != nil || w.at("name") != "wound/y" || w.at("key") != "k" {
		t.Errorf("kept alive: %v", w)
	}
	a.call("Locks/Release", object{"session": plain, "key": "k"})
	older.acquire("wound/y")
	a.call("Locks/Commit", older.about(nil))
}

// A lost lock of a transaction is reported with it, and the commit fails.
func TestTransactionLoses(t *testing.T) {
	a := serveKept(t)
	x := a.begin()
	x.acquire("kept/a")
	x.acquire("kept/b")
	a.call("Cluster/ForceRelease", object{"name": "kept/a"})
	lost := func() []any {
		all, _ := a.call("Locks/KeepAlive", object{"session": x.session}).at("lost").([]any)
		return all
	}
	eventually(t, "the loss is reported", func() bool { return len(lost()) == 1 })
	if l := object(lost()[0].(map[string]any)); l.at("transaction") != x.tx || l.at("name") != "kept/a" {
		t.Errorf("lost: %v", l)
	}
	a.fails(isLost, "Locks/Acquire", x.about(object{"name": "kept/c"}))
	for range 2 {
		a.fails(isLost, "Locks/Commit", x.about(nil))
	}
	if len(lost()) > 0 {
		t.Error("a loss is reported after the end")
	}
	a.free("kept/b")
}

// A stream holds a lock in a mode, and reports that an older transaction waits for it. It
// still holds the lock.
func TestHoldKept(t *testing.T) {
	a := serveKept(t, func(c *node.Config) { c.Lease = 5 * time.Second })
	older := a.begin()
	older.acquire("wound/first")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	two, three := uint32(2), uint32(3)
	stream, err := pb.NewLocksClient(a.client, a.url).Hold(ctx, &pb.HoldRequest{Name: "wound/x", Units: &two, Of: &three})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	told := false
	for stream.Receive() {
		switch e := stream.Msg().GetEvent().(type) {
		case *pb.HoldResponse_Held:
			if e.Held.GetMode() != "units" {
				t.Errorf("held: %v", e.Held)
			}
			a.call("Locks/Acquire", older.about(object{"name": "wound/x", "units": 2, "of": 3, "wait": "0s"}))
		case *pb.HoldResponse_MustAbort:
			if told || e.MustAbort.GetName() != "wound/x" || e.MustAbort.GetDeadlock().GetHow() != "wounded" {
				t.Errorf("must abort: %v", e.MustAbort)
			}
			told = true
			a.call("Cluster/ForceRelease", object{"name": "wound/x"}) // so it is held
		case *pb.HoldResponse_Lost:
			if !told {
				t.Errorf("lost: %v", e.Lost)
			}
		}
	}
	if err := stream.Err(); err != nil || !told {
		t.Errorf("the stream ended: %v, %v", told, err)
	}
	bad, err := pb.NewLocksClient(a.client, a.url).Hold(ctx, &pb.HoldRequest{Name: "ordinary", Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	for bad.Receive() {
	}
	if connect.CodeOf(bad.Err()) != isDeclined.code {
		t.Errorf("an ordinary lock is shared: %v", bad.Err())
	}
}

// Leaders are holders with a value.
func TestLeader(t *testing.T) {
	a := serve(t, nil)
	s, other := a.open(object{"label": "one"}), a.open(object{"label": "two"})
	leader := func() object { return a.call("Cluster/Leader", object{"name": "boss"}) }
	if out := leader(); out.at("leader") != nil {
		t.Errorf("leader: %v", out)
	}
	a.fails(badRequest, "Cluster/Leader", nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := pb.NewClusterClient(a.client, a.url).ObserveLeader(ctx, &pb.ObserveLeaderRequest{Name: "boss"})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	next := func() *pb.ObserveLeaderResponse {
		t.Helper()
		if !stream.Receive() {
			t.Fatal(stream.Err())
		}
		return stream.Msg()
	}
	if m := next(); m.GetNone() == nil {
		t.Errorf("observed: %v", m)
	}
	term := a.call("Locks/Acquire", object{"session": s, "name": "boss", "value": ""}).at("held", "token") // an empty value leads, too
	if m := next(); m.GetLeader().GetTerm() != term || m.GetLeader().GetNode() != "a" {
		t.Errorf("observed: %v, want term %v", m, term)
	}
	a.call("Locks/SetValue", object{"session": s, "name": "boss", "value": "10.0.0.7"})
	if m := next(); m.GetLeader().GetValue() != "10.0.0.7" {
		t.Errorf("observed: %v", m)
	}
	if out := leader(); out.at("leader", "term") != term || out.at("leader", "value") != "10.0.0.7" {
		t.Errorf("leader: %v", out)
	}
	a.call("Locks/Acquire", object{"session": other, "name": "boss", "value": "10.0.0.8", "wait": "0s"})
	a.release(s, object{"name": "boss", "token": term})
	for { // it may be seen that there is none in between
		m := next()
		if m.GetLeader().GetValue() == "10.0.0.8" {
			break
		}
		if m.GetLeader() != nil {
			t.Fatalf("observed: %v", m)
		}
	}
}
