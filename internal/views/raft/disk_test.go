package raft

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// A writer saves batches such as Raft could want, and knows what they lead to.
type writer struct {
	rng  *rand.Rand
	want Memory
}

func (w *writer) batch() Batch {
	s := &w.want.state
	if s.ID == 0 {
		return Batch{Group: 1, ID: 1, Hard: Hard{Term: 1, Commit: 1}, Snapshot: &Snapshot{Index: 1, Term: 1, Electorate: w.electorate(), Data: w.bytes()}}
	}
	b := Batch{Hard: s.Hard}
	switch w.rng.IntN(6) {
	case 0:
		b.Hard.Term++
		b.Hard.Vote = w.rng.Uint64N(3)
	case 1:
		if s.Hard.Commit > s.Snapshot.Index {
			term := s.Entries[s.Hard.Commit-s.Snapshot.Index-1].Term
			b.Snapshot = &Snapshot{Index: s.Hard.Commit, Term: term, Electorate: w.electorate(), Data: w.bytes()}
		}
	default:
		from := s.Hard.Commit + 1 + w.rng.Uint64N(s.Last()-s.Hard.Commit+1)
		for i := range 1 + w.rng.Uint64N(3) {
			b.Entries = append(b.Entries, Entry{Index: from + i, Term: s.Hard.Term, Data: w.bytes()})
		}
		b.Hard.Commit += w.rng.Uint64N(from - s.Hard.Commit)
	}
	return b
}

func (w *writer) electorate() Electorate {
	return [...]Electorate{
		{Voters: []uint64{1}},
		{Voters: []uint64{1}, Learners: []uint64{64, 65}},
		{Voters: []uint64{1, 64, 65}, Outgoing: []uint64{1}},
		{Voters: []uint64{1, 64}, Outgoing: []uint64{1, 64}, Learners: []uint64{128}},
	}[w.rng.IntN(4)]
}

func (w *writer) bytes() []byte {
	b := make([]byte, 1+w.rng.IntN(40))
	if w.rng.IntN(5) == 0 {
		b = make([]byte, 1+w.rng.IntN(3000))
	}
	b[0] = byte(w.rng.Uint32())
	return b
}

// crashPoint writes until an operation goes wrong, and returns what was
// promised, what would have been next, and the disk after the restart.
func crashPoint(seed uint64, at int, what Trouble) (promised, next State, d *Disk) {
	w := &writer{rng: rand.New(rand.NewPCG(seed, 2))}
	d = &Disk{}
	left := at
	d.Meet(func() Trouble {
		if left--; left == 0 {
			return what
		}
		return Fine
	})
	for range 60 {
		if w.rng.IntN(10) == 0 { // a process begins in between
			if _, err := d.Load(); err != nil {
				break
			}
		}
		b := w.batch()
		next, _ = w.want.Load()
		if err := next.Apply(b); err != nil {
			panic(err)
		}
		if err := d.Save(b); err != nil {
			break
		}
		_ = w.want.Save(b)
	}
	promised, _ = w.want.Load()
	d.Meet(nil)
	coin := rand.New(rand.NewPCG(seed, uint64(at)))
	d.Restart(coin.IntN(2) > 0, func() bool { return coin.IntN(2) == 0 })
	return promised, next, d
}

// breakLoad lets a process begin and fail at an operation, and the power after.
func breakLoad(d *Disk, coin *rand.Rand) {
	at, stop := 1+coin.IntN(9), coin.IntN(4) > 0
	d.Meet(func() Trouble {
		if at--; at != 0 {
			return Fine
		}
		if stop {
			return Stop
		}
		return SyncError
	})
	_, _ = d.Load()
	d.Meet(nil)
	d.Restart(true, func() bool { return coin.IntN(3) == 0 })
}

func same(a, b State) bool {
	if len(a.Entries) == 0 && len(b.Entries) == 0 {
		a.Entries, b.Entries = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// crashPoints breaks off saves and loads at many places. The disk must have all
// that was promised and, of the save that was broken off, all or nothing; and
// still so after the next failure.
func crashPoints(most int) (torn, whole int, err error) {
	for seed := uint64(0); torn+whole < most; seed++ {
		for at := 1; at < 120; at += 1 + int(seed%7) {
			what := []Trouble{Stop, Stop, Full, SyncError}[(int(seed)+at)%4]
			promised, next, d := crashPoint(seed, at, what)
			if at%2 == 0 {
				breakLoad(d, rand.New(rand.NewPCG(seed, uint64(at))))
			}
			got, err := d.Load()
			switch {
			case err == nil && same(got, promised):
				torn++
			case err == nil && same(got, next):
				whole++
			default:
				return torn, whole, fmt.Errorf("seed %d, operation %d, trouble %d: %v\ngot      %+v\npromised %+v\nor       %+v", seed, at, what, err, got, promised, next)
			}
			d.Restart(true, func() bool { return false })
			if again, err := d.Load(); err != nil || !same(again, got) {
				return torn, whole, fmt.Errorf("seed %d, operation %d, trouble %d: after a second failure: %v\ngot %+v\nwas %+v", seed, at, what, err, again, got)
			}
		}
	}
	return torn, whole, nil
}

func TestCrashPoints(t *testing.T) {
	torn, whole, err := crashPoints(6000)
	if err != nil {
		t.Fatal(err)
	}
	if torn == 0 || whole == 0 {
		t.Error("a batch that was broken off must sometimes be there, and sometimes not")
	}
	t.Logf("%d points, %d without the last batch and %d with it", torn+whole, torn, whole)
}

// Saved batches survive a power failure.
func TestSaved(t *testing.T) {
	for seed := range uint64(50) {
		w := &writer{rng: rand.New(rand.NewPCG(seed, 2))}
		d := &Disk{}
		for range 10 {
			b := w.batch()
			if err := d.Save(b); err != nil {
				t.Fatal(err)
			}
			_ = w.want.Save(b)
		}
		d.Restart(true, func() bool { return false })
		if got, err := d.Load(); err != nil || !same(got, w.want.state) {
			t.Fatalf("seed %d: %v\ngot  %+v\nwant %+v", seed, err, got, w.want.state)
		}
	}
}

// A flipped bit is noticed, unless it is in a place that is no longer read.
func TestRot(t *testing.T) {
	refused, harmless := 0, 0
	for seed := range uint64(1500) {
		promised, _, d := crashPoint(seed, 1<<30, Fine)
		d.Rot(seed * 0x9e3779b97f4a7c15)
		got, err := d.Load()
		switch {
		case errors.Is(err, ErrDamaged):
			refused++
		case err == nil && same(got, promised):
			harmless++
		default:
			t.Fatalf("seed %d: %v\ngot      %+v\npromised %+v", seed, err, got, promised)
		}
	}
	if refused == 0 || harmless == 0 {
		t.Errorf("refused %d, harmless %d: both must occur", refused, harmless)
	}
	t.Logf("refused %d, harmless %d", refused, harmless)
}

// The files do not grow without end, and a disk that is full says so.
func TestDiskSize(t *testing.T) {
	d := &Disk{}
	if err := bootstrap(d, 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	for term := range uint64(5000) {
		if err := d.Save(Batch{Hard: Hard{Term: term + 2, Commit: 1}}); err != nil {
			t.Fatal(err)
		}
		if n := len(d.medium.files[0]) + len(d.medium.files[1]); n > 4*minGrowth {
			t.Fatalf("%d sectors after %d votes", n, term)
		}
	}
	small := &Disk{Size: 3}
	err := bootstrap(small, 1, 1, make([]byte, 4*sectorSize))
	if !errors.Is(err, ErrFull) {
		t.Errorf("a snapshot larger than the disk: %v", err)
	}
	if err := small.Save(Batch{}); !errors.Is(err, ErrFull) {
		t.Errorf("a disk that has failed goes on: %v", err)
	}
}

// The bytes of a batch are on disks: they must not change unless its form does.
func TestBatchBytes(t *testing.T) {
	b := Batch{
		Group: 300, ID: 2, Hard: Hard{Term: 3, Vote: 4, Commit: 5},
		Snapshot: &Snapshot{Index: 6, Term: 7, Electorate: Electorate{Voters: []uint64{1}, Outgoing: []uint64{2}, Learners: []uint64{3, 200}}, Data: []byte("ab")},
		Entries:  []Entry{{Index: 8, Term: 9, Kind: Change, Data: []byte("c")}, {Index: 9, Term: 9}},
	}
	const want = "ac0202030405" + "010607" + "0101" + "0102" + "0203c801" + "026162" + "02" + "0809010163" + "09090000"
	if got := hex.EncodeToString(b.AppendTo(nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Any bytes are a batch or an error.
func TestParseBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := &writer{rng: rng}
	for range 3000 {
		b := w.batch()
		_ = w.want.Save(b)
		raw := b.AppendTo(nil)
		got, err := ParseBatch(raw)
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("%v\ngot  %+v\nwant %+v", err, got, b)
		}
		if _, err := ParseBatch(raw[:rng.IntN(len(raw))]); err == nil {
			t.Fatal("a batch that was cut off is one too")
		}
		raw[rng.IntN(len(raw))] ^= byte(1 << rng.IntN(8))
		_, _ = ParseBatch(raw)
	}
}
