package views

import "github.com/stile-lock/stile/internal/member"

// When the key for tickets is replaced: with every change, but not before all holds have tickets
// under the key that is then used. Members replace those of their clients when they install the
// view, and a client that is not connected then has lost its holds after a lease. A process that
// has left knows the keys that it had, so a change is made for them alone if none comes for an
// hour; and once a day in any case.
const (
	partedKeyLife = 60 * 60 * member.Second
	keyLife       = 24 * partedKeyLife
)

// rekeys reports whether a change should bring a new key, and is made for that if there is no
// other reason.
func (w *Leader) rekeys(reason bool) bool {
	keys, age := w.record.Keys, w.now-w.keyed
	switch {
	case w.draw == nil || len(keys) == 0 || age < 4*w.patience():
		return false
	case keys[len(keys)-1].Epoch < w.record.Parted && age >= member.Instant(partedKeyLife):
		return true
	}
	return reason || age >= member.Instant(keyLife)
}

// rekeyed notes when the newest key was first seen here.
func (w *Leader) rekeyed(old *Record) {
	if len(old.Keys) == 0 || len(w.record.Keys) == 0 || old.Keys[0] != w.record.Keys[0] {
		w.keyed = w.now
	}
}
