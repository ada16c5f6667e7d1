package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
)

// streamEnv is set in a process that holds a lock with a stream: the URL of a node, the name
// of the lock, and whether the process goes on when it has lost the lock.
const streamEnv = "STILE_TEST_STREAM"

// stream holds a lock with a stream until it is lost, and does what docs/http.md says:
// silence is a loss, too.
func stream(text string) int {
	var url, name string
	var deaf bool
	if _, err := fmt.Sscan(text, &url, &name, &deaf); err != nil {
		fmt.Println(err)
		return 2
	}
	c := pb.NewLocksClient(http.DefaultClient, url, connect.WithProtoJSON())
	s, err := c.Hold(context.Background(), &pb.HoldRequest{Name: name})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	events := make(chan *pb.HoldResponse)
	go func() {
		defer close(events)
		for s.Receive() {
			events <- s.Msg()
		}
	}()
	silence := time.NewTimer(time.Hour)
	why := ""
	for why == "" {
		select {
		case e := <-events:
			switch {
			case e.GetHeld() != nil:
				silence.Reset(e.GetHeld().GetValidFor().AsDuration())
				fmt.Println("pids", os.Getpid())
			case e.GetRenewed() != nil:
				silence.Reset(e.GetRenewed().GetValidFor().AsDuration())
			case e.GetLost() != nil:
				why = e.GetLost().GetReason()
			case e == nil:
				why = fmt.Sprint("the stream ended: ", s.Err())
			}
		case <-silence.C:
			why = "silence"
		}
	}
	fmt.Println("lost:", why)
	if deaf {
		select {}
	}
	return 0
}

// A client that holds a lock with a stream learns that it is lost before the lock is
// acquired through another node: from its node if that is cut off from the others, and from
// silence if the client itself is cut off. A client that goes on is found.
func TestStreamCutOff(t *testing.T) {
	needWorld(t)
	w := makeWorld(t, 4)
	url := "http://" + w.address(1) + ":7421"
	at := w.three(t, "3s", "--http", w.address(1)+":7421")
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// hold holds a lock in a namespace, and has another client wait for it. That one looks
	// whether the holder is alive as soon as it has the lock.
	hold := func(i int, name string, deaf bool) (holder, next *shell) {
		holder = w.run(t, i, "/usr/bin/env", "env", fmt.Sprintf("%s=%s %s %v", streamEnv, url, name, deaf), me)
		pid := holder.until(`^pids (.*)`)
		next = w.stile(t, 2, "exec", "--insecure", "--addr", at[2], name, "--", "sh", "-c", look(pid))
		next.until("waiting for " + name)
		return holder, next
	}
	far, afterFar := hold(3, "far", false)
	near, afterNear := hold(1, "near", false)
	deaf, afterDeaf := hold(1, "deaf", true)
	acquired := func(next *shell) (alive bool) {
		next.until("^checked$")
		return strings.Contains(next.said(), "alive")
	}
	if err := w.link(3, false); err != nil {
		t.Fatal(err)
	}
	if acquired(afterFar) {
		t.Errorf("the lock was acquired while the client that was cut off counts on it: %s", far.said())
	}
	if err := w.link(1, false); err != nil {
		t.Fatal(err)
	}
	if acquired(afterNear) {
		t.Errorf("the lock was acquired while the client of the node that was cut off counts on it: %s", near.said())
	}
	if !acquired(afterDeaf) {
		t.Errorf("a client that goes on after a loss is not found: %s", deaf.said())
	}
	far.until("^lost: silence")
	near.until("^lost: ")
}
