package views

import "github.com/stile-lock/stile/internal/member"

// When the key for tickets is replaced. A process that has left knows the keys that it had, so
// they are replaced until none is left that it knew; and once a day in any case. A new key comes
// not before all holds have tickets under the key that is then used: members replace those of
// their clients when they install the view, and a client that is not connected then has lost its
// holds after a lease.

// keyLife is the maximum life of a key.
const keyLife = 24 * 60 * 60 * member.Second

// rekeys reports whether a change should bring a new key.
func (w *Leader) rekeys(x *Change) bool {
	keys := w.record.Keys
	if w.draw == nil || len(keys) == 0 || w.now-w.keyed < 4*w.patience() {
		return false
	}
	parts := len(x.Drop)+len(x.Left) > 0
	return parts || keys[len(keys)-1].Epoch < w.record.Parted || w.now-w.keyed >= member.Instant(keyLife)
}

// rekeyed notes when the newest key was first seen here.
func (w *Leader) rekeyed(old *Record) {
	if len(old.Keys) == 0 || len(w.record.Keys) == 0 || old.Keys[0] != w.record.Keys[0] {
		w.keyed = w.now
	}
}
