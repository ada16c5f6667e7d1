package stile_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stile-lock/stile"
)

// A node of its own, in memory: enough to try things out, and for tests.
func ExampleOpen() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	lock, err := node.Lock(ctx, "orders/42") // err == nil if and only if it is held
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Unlock()
	fmt.Println(lock.Name(), lock.Err())
	// Output: orders/42 <nil>
}

// A client takes locks through a node, which may be in another process.
func ExampleDial() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	client, err := stile.Dial(ctx, stile.DialConfig{Nodes: []string{node.Address()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	lock, err := client.Lock(ctx, "orders/42")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = node.TryLock(ctx, "orders/42")
	fmt.Println("busy:", errors.Is(err, stile.ErrBusy))
	fmt.Println("released:", lock.Unlock())
	// Output:
	// busy: true
	// released: <nil>
}

// Do holds a lock while a function runs, whose context ends if the lock is lost.
func ExampleNode_Do() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	err = node.Do(ctx, "report", func(ctx context.Context, t stile.Token) error {
		fmt.Println("inside:", ctx.Err() == nil, t != stile.Token{})
		return nil
	})
	fmt.Println(err)
	// Output:
	// inside: true true
	// <nil>
}

// LockAll acquires several locks, all or none, and cannot deadlock with other callers.
func ExampleNode_LockAll() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	both, err := node.LockAll(ctx, "account/7", "account/3")
	if err != nil {
		fmt.Println(err)
		return
	}
	older, newer := both.Get("account/3").Token(), both.Get("account/7").Token()
	fmt.Println(older != stile.Token{}, newer != stile.Token{}, both.Unlock())
	// Output: true true <nil>
}

// A holder attaches a value to its lock, and everyone can see it.
func ExampleLock_SetValue() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	lock, err := node.Lock(ctx, "reports/daily")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Unlock()
	if err := lock.SetValue("job 42"); err != nil {
		fmt.Println(err)
		return
	}
	all, err := node.Locks(ctx, "reports/")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range all {
		fmt.Printf("%s is held by %s: %s\n", l.Name, l.Holder, l.Value)
	}
	// Output: reports/daily is held by a: job 42
}

// Watch yields locks when they change, until the loop or the context ends.
func ExampleNode_Watch() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	lock, err := node.Lock(ctx, "leader")
	if err != nil {
		fmt.Println(err)
		return
	}
	for l, err := range node.Watch(ctx, "lead") {
		if err != nil {
			fmt.Println(err)
			continue
		}
		if l.Holder == "" {
			fmt.Println(l.Name, "is free")
			break
		}
		fmt.Println(l.Name, "is held by", l.Holder)
		lock.Unlock()
	}
	// Output:
	// leader is held by a
	// leader is free
}

// A process campaigns, leads, and resigns. Any other process can observe that.
func ExampleElection() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	election := node.Election("scheduler")
	leadership, err := election.Campaign(ctx, "10.0.0.7:8080")
	if err != nil {
		fmt.Println(err)
		return
	}
	for leader, err := range election.Observe(ctx) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		if leader == (stile.Leader{}) {
			fmt.Println("no leader")
			break
		}
		fmt.Println(leader.Name, "leads at", leader.Value)
		leadership.Resign()
	}
	// Output:
	// a leads at 10.0.0.7:8080
	// no leader
}

// A resource in memory refuses holders with an older token than it has seen.
func ExampleFence() {
	var fence stile.Fence
	slow, quick := stile.Token{Epoch: 1, Count: 7}, stile.Token{Epoch: 1, Count: 8}
	fmt.Println(fence.Pass(slow))
	fmt.Println(fence.Pass(quick))
	fmt.Println(fence.Pass(slow)) // it stood still while the other one came in
	// Output:
	// true
	// true
	// false
}

// Readers share a lock; a writer waits for all of them.
func ExampleNode_RLock() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	one, err := node.RLock(ctx, "kept/catalogue")
	if err != nil {
		fmt.Println(err)
		return
	}
	other, err := node.RLock(ctx, "kept/catalogue")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = node.TryLock(ctx, "kept/catalogue")
	fmt.Println("busy:", errors.Is(err, stile.ErrBusy))
	fmt.Println("released:", one.Unlock(), other.Unlock())
	// Output:
	// busy: true
	// released: <nil> <nil>
}

// Two transfers in opposite directions acquire the same locks in opposite orders. If they
// deadlock, one of them is run again.
func ExampleNode_Transact() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	accounts := map[string]int{"kept/x": 10, "kept/y": 10} // guarded by the locks of these names
	transfer := func(from, to string, amount int) error {
		return node.Transact(ctx, func(ctx context.Context, tx *stile.Tx) error {
			if _, err := tx.Lock(ctx, from); err != nil {
				return err
			}
			if _, err := tx.Lock(ctx, to); err != nil {
				return err
			}
			accounts[from] -= amount
			accounts[to] += amount
			return nil
		})
	}
	done := make(chan error)
	go func() { done <- transfer("kept/x", "kept/y", 3) }()
	go func() { done <- transfer("kept/y", "kept/x", 1) }()
	fmt.Println(<-done, <-done)
	fmt.Println(accounts["kept/x"], accounts["kept/y"])
	// Output:
	// <nil> <nil>
	// 8 12
}
