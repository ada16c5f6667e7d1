package kernel

import (
	"slices"
	"testing"
)

// The queue against a list that is sorted again and again.
func TestQueueAgainstSortedList(t *testing.T) {
	r := NewRand(1, 0)
	var q queue
	var dumb []Event
	const procs = 5
	push := func(e Event) {
		q.push(&e)
		dumb = append(dumb, e)
	}
	pushAll := func(e Event) {
		first := q.seq + 1
		all := e
		q.pushAll(&all, procs-1)
		for p := range int32(procs) {
			if p != e.arg {
				e.proc, e.Seq = p, first
				first++
				dumb = append(dumb, e)
			}
		}
	}
	now := int64(0)
	for range 20_000 {
		e := Event{At: now + r.Below(10), Kind: deliver, arg: int32(r.Below(procs))}
		switch r.Below(5) {
		case 0:
			push(e)
		case 1:
			pushAll(e)
		default:
			if len(dumb) == 0 {
				continue
			}
			slices.SortFunc(dumb, func(a, b Event) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
			got := *q.pop()
			got.left = 0
			if got != dumb[0] {
				t.Fatalf("popped %+v, want %+v", got, dumb[0])
			}
			now = got.At
			dumb = dumb[1:]
		}
	}
}

// A seed gives the same numbers on every machine.
func TestRandIsPinned(t *testing.T) {
	r := NewRand(42, 7)
	got := []uint64{r.Uint64(), r.Uint64(), uint64(r.Below(1000)), uint64(r.exp(1_000_000)), uint64(r.exp(1_000_000))}
	want := []uint64{0x7d2fb8d4c1dcd380, 0xb738d7075c47d730, 0x249, 0x2624c3, 0x167dd2}
	if !slices.Equal(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

// The exponential distribution has its mean and its tail.
func TestExponential(t *testing.T) {
	r := NewRand(1, 1)
	const n, mean = 200_000, 1_000_000
	var sum, above int64
	for range n {
		x := r.exp(mean)
		sum += x
		if x > 3*mean {
			above++
		}
	}
	if got := sum / n; got < mean*99/100 || got > mean*101/100 {
		t.Errorf("the mean is %d, want %d", got, mean)
	}
	if above < n*45/1000 || above > n*55/1000 { // e^-3 = 4.98 %
		t.Errorf("%d of %d are above three times the mean, want about 5 %%", above, n)
	}
}
