package check

// How much memory the models keep beside the states: rough sums of what the
// entries of slices and maps take, so that a limit on memory means something.

const (
	perBlob    = 224 // its numbers, its place in a list and in a map
	perKnown   = 80  // a blob that a worker knows, by number and by content
	perEffect  = 88  // what a machine did, and how that is found again
	perRenamed = 28  // what a blob becomes under a rule
	perRule    = 720
	perTurn    = 200
	perTried   = 20
)

// size returns how many blobs there are, and the bytes of their contents.
func (t *blobs) size() (n, content int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(len(t.infos)), t.content
}

func (t *blobs) bytes() int64 {
	n, content := t.size()
	return n*perBlob + 2*content
}

// Bytes implements explore.Sized.
func (h *host) Bytes() int64 { return h.blobs.bytes() }

// Bytes implements explore.Sized.
func (w *worker) Bytes() int64 {
	n, content := w.blobs.size()
	known := int64(len(w.ids))
	return known*(perKnown+content/max(1, n)) + int64(len(w.effects))*perEffect + int64(len(w.maps))*perRenamed + int64(len(w.rules))*perRule
}

// Bytes implements explore.Sized.
func (e *electorate) Bytes() int64 { return e.blobs.bytes() }

// Bytes implements explore.Sized.
func (t *teller) Bytes() int64 { return int64(len(t.steps)) * perTurn }

// Bytes implements explore.Sized.
func (w *sitesWorker) Bytes() int64 {
	return int64(len(w.lifted))*perTried + int64(len(w.known)+len(w.idles))*perBlob
}
