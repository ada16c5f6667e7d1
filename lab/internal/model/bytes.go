package model

// How much memory a model keeps besides the states: rough sums of what the entries of
// slices and maps take, so that a limit on memory means something.

const (
	perBlob    = 224 // its numbers, its place in a list and in a map
	perKnown   = 80  // a blob known to a worker, by number and by content
	perEffect  = 88  // what a machine did, and the key it is stored under
	perRenamed = 28  // what a blob becomes under a rule
	perRule    = 720
	perClass   = 40
)

// size returns how many blobs there are, and the bytes of their contents.
func (t *blobs) size() (n, content int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(len(t.infos)), t.content
}

// Bytes implements explore.Sized.
func (m *Model) Bytes() int64 {
	n, content := m.blobs.size()
	return n*perBlob + 2*content
}

// Bytes implements explore.Sized.
func (w *worker) Bytes() int64 {
	n, content := w.blobs.size()
	known := int64(len(w.ids))
	return known*(perKnown+content/max(1, n)) + int64(len(w.effects))*perEffect + int64(len(w.maps))*perRenamed +
		int64(len(w.rules)+len(w.shifts))*perRule + int64(len(w.classes))*perClass
}
