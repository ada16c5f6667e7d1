package raft

// A Drive is a simulated disk with the state of a voter, for storms.
type Drive struct {
	disk  *Disk
	saves int
	left  [SyncError + 1]int // by trouble: number of operations before it occurs; -1 for never
}

// NewDrive returns an empty drive.
func NewDrive() *Drive {
	d := &Drive{disk: &Disk{}, left: [...]int{-1, -1, -1, -1}}
	d.disk.Meet(d.next)
	return d
}

// Read returns what the drive holds, as one record; see the function.
func (d *Drive) Read() ([]byte, error) { return Read(d.disk) }

// Write makes a record durable.
func (d *Drive) Write(record []byte) error {
	d.saves++
	return Write(d.disk, record)
}

// Erase empties the drive.
func (d *Drive) Erase() error { return d.disk.Erase() }

// next is called before every operation.
func (d *Drive) next() Trouble {
	now := Fine
	for t := range d.left {
		switch {
		case d.left[t] > 0:
			d.left[t]--
		case d.left[t] == 0:
			now = Trouble(t)
		}
	}
	return now
}

// StopAfter makes the machine stop after n more operations.
func (d *Drive) StopAfter(n int) { d.left[Stop] = n }

// FullAfter makes writes fail after n more operations.
func (d *Drive) FullAfter(n int) { d.left[Full] = n }

// SyncErrorAfter makes every sync fail after n more operations.
func (d *Drive) SyncErrorAfter(n int) { d.left[SyncError] = n }

// Heal ends all trouble.
func (d *Drive) Heal() { d.left = [...]int{-1, -1, -1, -1} }

// Restart is what happens when the process ends: see Disk.
func (d *Drive) Restart(power bool, chance func() bool) {
	d.Heal()
	d.disk.Restart(power, chance)
}

// Rot flips a bit: see Disk.
func (d *Drive) Rot(bit uint64) { d.disk.Rot(bit) }

// Voter returns the number of the voter whose state is here, or 0. It only looks, and
// does not read the disk.
func (d *Drive) Voter() uint64 { return d.disk.state.ID }

// Copy returns what the drive holds, as one record, without reading the disk.
func (d *Drive) Copy() []byte {
	b := d.disk.state.Whole()
	return b.AppendTo(nil)
}

// Promised returns what the voter has acknowledged: its term and vote, and the index and
// term of its last entry.
func (d *Drive) Promised() (term, vote, last, of uint64) {
	s := &d.disk.state
	if of = s.Snapshot.Term; len(s.Entries) > 0 {
		of = s.Entries[len(s.Entries)-1].Term
	}
	return s.Hard.Term, s.Hard.Vote, s.Last(), of
}

// Has reports whether the drive holds the log up to an entry, or a later snapshot.
func (d *Drive) Has(index, term uint64) bool {
	s := &d.disk.state
	return index <= s.Snapshot.Index || index <= s.Last() && s.Entries[index-s.Snapshot.Index-1].Term == term
}

// Saves returns the number of saves.
func (d *Drive) Saves() int { return d.saves }
