package page

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"time"
)

// hostile is a name that must do nothing but be shown.
const hostile = `<img src=x onerror="document.title='hacked'">` + "\u202egnp.exe\u0000\u200b" + `javascript:alert(1)`

func nowMS() int64 { return time.Now().UnixMilli() }

type object = map[string]any

// client is a client with an identity and a label, and what else is known of it, in the words
// of a node.
func client(name, label, at string, more object) object {
	c := object{"who": fmt.Sprintf("client %s (label %q) at %s", name, label, at), "identity": "client/" + name, "label": label, "node": at}
	maps.Copy(c, more)
	return c
}

// overviewDoc is a cluster of five members, one of which does not answer.
func overviewDoc(at int64) object {
	members, traffic := object{}, object{}
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", "c", "d", "e"}
	for i, name := range names {
		m := object{
			"name": name, "address": fmt.Sprintf("10.0.0.%d:7420", 5+i), "incarnation": 512 + 64*i, "voter": i < 3, "linked": true, "state": "member",
			"epoch": 14, "leader": "b", "lease_margin_s": 6.1 + float64(i)/3, "lease_left_s": 7.4 + float64(i)/4, "clients": 12 + 3*i, "held": 31 + 7*i,
			"waiting": 9*i + 2, "known": 2210 + 17*i, "acquired": 91_000 + 7000*i, "rate": 38.2 + 11*float64(i), "lost": i % 3, "complains": []string{}, "heard_ms": at - 400,
		}
		if name == "d" {
			m["lease_margin_s"], m["lease_left_s"] = 1.2, 7.9
		}
		if name == "e" {
			m["error"], m["heard_ms"], m["linked"] = "dial tcp 10.0.0.9:7420: connection refused", at-23_000, false
		} else if name != "c" {
			m["complains"] = []string{"e"}
		}
		members[name] = m
		row := object{}
		for j, to := range names {
			if i != j {
				n := r.Float64() * 60 / float64(1+(i-j)*(i-j))
				row[to] = object{"sent": int(n * 4000), "rate": n}
			}
		}
		traffic[name] = row
	}
	history := object{}
	for i, c := range []struct {
		cause, text string
		ago         int64
		members     []string
	}{
		{"found", "the cluster was founded by a", 9_200_000, names[:1]},
		{"join", "b joined", 9_100_000, names[:2]},
		{"join", "c joined, and votes", 9_050_000, names[:3]},
		{"join", "d and e joined", 5_400_000, names},
		{"evict", "c was evicted: a, b and d could not reach it for 2.1 s", 1_260_000, []string{"a", "b", "d", "e"}},
		{"join", "c joined again", 1_200_000, names},
		{"leave", "e left", 640_000, names[:4]},
		{"vote", "c votes instead of e", 636_000, names[:4]},
		{"join", "e joined", 300_000, names},
		{"refresh", "names that were idle are forgotten", 60_000, names},
	} {
		history[fmt.Sprint(5+i)] = object{"epoch": 5 + i, "at_ms": at - c.ago, "cause": c.cause, "text": c.text, "members": c.members}
	}
	bounds := []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
	return object{
		"at_ms": at, "node": "a", "cluster": "7f3a91c2d0be44ac", "epoch": 14, "lease_s": 10, "leader": "b", "term": 3, "algorithm": "raymond,orders/=suzuki-kasami,accounts/=kept:wound-wait", "ghosts": 1,
		"members": members, "disagree": []string{"c sees epoch 13, and a epoch 14", "c can reach e, and a, b and d cannot"},
		"rate": 212.4, "wait": object{"p50_s": 0.0042, "p99_s": 0.183}, "hold": object{"p50_s": 0.021, "p99_s": 1.4},
		"wait_hist": object{"bounds_s": bounds, "counts": []int{0, 3, 120, 2300, 9100, 12_040, 9000, 4100, 2000, 900, 700, 120, 22, 9, 1, 0, 0, 0, 0}},
		"hold_hist": object{"bounds_s": bounds, "counts": []int{0, 0, 0, 20, 340, 2900, 9200, 14_100, 9800, 3100, 1200, 800, 640, 210, 44, 12, 2, 1, 3}},
		"history":   history, "traffic": traffic, "victims": victimsOf(at),
	}
}

func victimsOf(at int64) object {
	return object{
		"b 917": client("transfer", "worker-2", "b", object{"at_ms": at - 41_000, "tx": 917, "how": "cycle", "why": "it was the youngest of a deadlock of 2 transactions", "lock": "accounts/17",
			"cycle": []object{{"node": "b", "tx": 917, "lock": "accounts/17"}, {"node": "a", "tx": 388, "lock": "accounts/4"}}}),
		"a 390": client("audit", "nightly", "a", object{"at_ms": at - 12_000, "tx": 390, "how": "wound", "why": "an older transaction, 388 of a, needs accounts/4", "lock": "accounts/4"}),
	}
}

// overTime plays the last minutes of the cluster, so that there is something to see of them.
func (f *fakeNode) overTime(at int64) {
	r := rand.New(rand.NewPCG(3, 4))
	load := 150.0
	for s := int64(290); s > 0; s -= 2 {
		load = max(20, load+r.NormFloat64()*14)
		f.change("overview", object{"at_ms": at - 1000*s, "rate": load, "wait": object{"p50_s": 0.004, "p99_s": load / 900 * (0.8 + r.Float64()/3)}, "hold": object{"p50_s": 0.02, "p99_s": 1 + r.Float64()/2},
			"members": object{"b": object{"waiting": int(load / 4)}}})
	}
	now := overviewDoc(at)
	f.change("overview", object{"at_ms": at, "rate": 212.4, "members": now["members"], "history": now["history"], "victims": now["victims"]})
}

// locksDoc is a page of locks.
func locksDoc(at int64, count int) object {
	rows, order := object{}, []string{}
	people := []string{"orders", "billing", "reports", "mailer"}
	for i := range count {
		name := fmt.Sprintf("orders/2026/%05d", 17*i)
		switch i {
		case 2:
			name = hostile
		case 3:
			name = "accounts/" + longName
		case 4:
			name = "__proto__"
		}
		row := object{"name": name, "algorithm": []string{"raymond", "suzuki-kasami", "kept"}[i%3], "home": "c", "holders": 0, "waiters": 0, "rate": float64(count-i) / 7, "acquired": 37 * (count - i)}
		if i%4 != 3 {
			row["holders"] = 1 + i%3/2*4
			row["holder"] = client(people[i%4], fmt.Sprintf("worker-%d", i%7), string(rune('a'+i%5)), object{"session": 7 + i, "token": fmt.Sprintf("14.%d", 900+i), "since_ms": at - int64(900*(i+1))})
		}
		if i%3 == 0 {
			row["waiters"], row["waiting_since_ms"], row["why"] = 3*(i%5)+1, at-int64(400*(i+1)), "waits for the token, which is at b"
		}
		rows[name] = row
		order = append(order, name)
	}
	return object{"at_ms": at, "prefix": "", "sort": "name", "next": order[len(order)-1], "rows": rows, "order": order}
}

const longName = "a-very-long-name-that-a-program-has-made-from-the-path-of-a-file/which/has/no/end/and/does/not/fit/anywhere/0123456789abcdef0123456789abcdef"

// lockDoc is a lock with a holder and some waiters.
func lockDoc(at int64, name string, waiters int) object {
	waiting, order := object{}, []string{}
	for i := range waiters {
		key := fmt.Sprintf("w%d", i)
		waiting[key] = client("orders", fmt.Sprintf("worker-%d", i), string(rune('a'+i%5)), object{"session": 100 + i, "since_ms": at - int64(60*(waiters-i)),
			"why": []string{"held by client orders (label \"worker-3\") at b", "requested from the other members with raymond"}[min(i, 1)]})
		order = append(order, key)
	}
	past := object{}
	for i := range 12 {
		end := "released"
		if i == 4 {
			end = "lost: its lease expired, because the client did not renew it"
		}
		if i == 7 {
			end = "forced"
		}
		past[fmt.Sprint("14.", 940-i)] = client("billing", fmt.Sprintf("worker-%d", i%3), string(rune('a'+i%4)), object{"session": 12, "token": fmt.Sprint("14.", 940-i), "from_ms": at - int64(9000+4000*i), "to_ms": at - int64(8800+3000*i), "end": end})
	}
	return object{
		"at_ms": at, "name": name, "algorithm": "raymond", "kept": false, "home": "c", "rate": 3.42, "acquired": 18_211, "unlisted": 0, "yours": true,
		"holders": object{"14.941": client("orders", "worker-3", "b", object{"session": 44, "token": "14.941", "since_ms": at - 3400, "lease_until_ms": at + 90_300, "value": "http://10.0.0.6:8080/ leader since Tuesday"})},
		"waiters": waiting, "order": order, "history": past,
	}
}

// trailText is what a lock's members have done, as a scenario.
const trailText = `title orders/2026/00034, live
algorithm raymond
processes 5
topology 1-2,1-3,3-4,3-5
schedule steps
holder 1 busy
say "P5 (e): a request begins to wait"
P5 asks
deliver 5 -> 3
say "P2 (b): a request begins to wait"
P2 asks
deliver 3 -> 1
deliver 2 -> 1
P4 asks
say "P1 (a): the holder releases the lock, token 14.940"
P1 leaves
deliver 4 -> 3
deliver 1 -> 3
deliver 3 -> 5
say "P5 (e): a request acquires the lock, token 14.941"
`

func trailDoc(at int64, name string) object {
	return object{"at_ms": at, "name": name, "algorithm": "raymond", "seats": []string{"a", "b", "c", "node-d.example.com", "e"}, "text": trailText, "steps": 10, "from_ms": at - 4000, "to_ms": at - 300, "done": false}
}

// graphDoc is a deadlock, a possible one, a chain, and many that wait for the same.
func graphDoc(at int64) object {
	vertices, edges := object{}, object{}
	vertex := func(id, name, label, node string, tx int, holds ...string) {
		vertices[id] = client(name, label, node, object{"session": 3, "tx": tx, "holds": holds})
	}
	edge := func(from, to, lock string) {
		edges[from+" "+to+" "+lock] = object{"from": from, "to": to, "lock": lock}
	}
	vertex("t1", "transfer", "worker-1", "a", 388, "accounts/4")
	vertex("t2", "transfer", "worker-2", "b", 917, "accounts/17")
	vertex("t3", "audit", "nightly", "c", 12, "accounts/9", "accounts/10")
	vertex("t4", "interest", "worker-1", "c", 13)
	vertex("t5", "fees", "worker-1", "d", 71)
	edge("t1", "t2", "accounts/17")
	edge("t2", "t3", "accounts/9")
	edge("t3", "t1", "accounts/4")
	edge("t4", "t1", "accounts/4")
	edge("t5", "t4", "fees")
	vertex("p1", "reports", "q3", "d", 5, "reports/q3")
	vertex("p2", "exports", "q3", "e", 6, "exports/q3")
	edge("p1", "p2", "exports/q3")
	edge("p2", "p1", "reports/q3")
	vertex("h", "orders", "worker-3", "b", 0, "orders/hot")
	for i := range 40 {
		id := fmt.Sprintf("q%d", i)
		vertex(id, "orders", fmt.Sprintf("worker-%d", 10+i), "a", 0)
		edge(id, "h", "orders/hot")
	}
	return object{"at_ms": at, "vertices": vertices, "edges": edges, "deadlocks": [][]string{{"t1", "t2", "t3"}}, "possible": [][]string{{"p1", "p2"}}, "cut": false, "victims": victimsOf(at)}
}

func electionsDoc(at int64) object {
	rows, order := object{}, []string{}
	for i, name := range []string{"scheduler", "compactor/eu-west-1", "mailer", hostile} {
		rows[name] = client(name[:4], fmt.Sprintf("host-%d", i), string(rune('a'+i)), object{"name": name, "value": fmt.Sprintf("http://10.0.1.%d:8080/", i+4), "term": fmt.Sprint(14, ".", 80+i), "since_ms": at - int64(i+1)*4_000_000, "candidates": 2 + i})
		order = append(order, name)
	}
	return object{"at_ms": at, "rows": rows, "order": order}
}

// full shows all views.
func (f *fakeNode) full() {
	at := nowMS()
	f.show("overview", overviewDoc(at-300_000))
	f.show("locks", locksDoc(at, 100))
	const name = "orders/2026/00034"
	f.show("lock "+name, lockDoc(at, name, 23))
	f.show("trail "+name, trailDoc(at, name))
	f.show("graph", graphDoc(at))
	f.show("elections", electionsDoc(at))
}
