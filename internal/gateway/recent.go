package gateway

// maxRecent is the number of ends that a session remembers, of requests and of transactions:
// calls that ended them may be repeated.
const maxRecent = 128

// recent are the last values that were added, by key.
type recent[K comparable, V any] struct {
	by   map[K]*remembered[K, V]
	last [maxRecent]*remembered[K, V]
	next int
}

type remembered[K comparable, V any] struct {
	key   K
	value V
}

// find returns the value of a key, or the zero value.
func (r *recent[K, V]) find(key K) (v V, ok bool) {
	if one := r.by[key]; one != nil {
		return one.value, true
	}
	return v, false
}

func (r *recent[K, V]) forget(key K) { delete(r.by, key) }

// add adds a value, in place of the oldest one.
func (r *recent[K, V]) add(key K, v V) {
	one := &remembered[K, V]{key, v}
	if old := r.last[r.next]; old != nil && r.by[old.key] == old {
		delete(r.by, old.key)
	}
	r.last[r.next] = one
	r.next = (r.next + 1) % maxRecent
	if r.by == nil {
		r.by = map[K]*remembered[K, V]{}
	}
	r.by[key] = one
}
