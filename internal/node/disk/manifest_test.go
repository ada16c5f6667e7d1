//go:build unix

package disk

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/views/raft"
)

// records returns the records of a file.
func (x specimen) records(t *testing.T) []elem {
	t.Helper()
	tr, top, err := readTree(bytes.NewReader(x.bytes), int64(len(x.bytes)))
	if err != nil {
		t.Fatal(err)
	}
	all, err := tr.bucket(top[0].value)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// If records are all sound, but not those of the last transaction, only the manifest shows
// it.
func TestManifest(t *testing.T) {
	dir, _ := memoryFolder(t)
	s := open(t, dir)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	snap := func() specimen {
		b, err := os.ReadFile(s.Path())
		must(err)
		c, err := readBytes(b)
		must(err)
		return specimen{b, c.state, c.tree}
	}
	entry := func(data string) raft.Entry { return raft.Entry{Index: 3, Term: 1, Data: []byte(data)} }
	must(bootstrap(s, 1, 1, nil))
	must(s.Save(raft.Batch{Hard: raft.Hard{Term: 1, Commit: 1}, Entries: []raft.Entry{{Index: 2, Term: 1}, entry("old")}}))
	older := snap()
	must(s.Save(raft.Batch{Hard: raft.Hard{Term: 1, Commit: 1}, Entries: []raft.Entry{entry("new")}}))
	newer := snap()
	tx := newer.tree.meta.tx
	last := entryKey(3)
	isLast := func(e elem) bool { return string(e.key) == last }
	swapped := newer.records(t)
	swapped[slices.IndexFunc(swapped, isLast)] = older.records(t)[slices.IndexFunc(older.records(t), isLast)]
	for name, all := range map[string][]elem{
		"a record is missing":      slices.DeleteFunc(newer.records(t), isLast),
		"a record is an older one": swapped,
		"all are older ones":       older.records(t),
	} {
		if _, err := decode(all, tx); err == nil {
			t.Errorf("%s: not found", name)
		}
		// The planted bug: a manifest that fits whatever is there.
		var m = manifest{format: format, tx: tx}
		for _, e := range all {
			if string(e.key) != keyManifest {
				_, sum, err := unseal(string(e.key), e.value)
				must(err)
				m.count, m.sum = m.count+1, m.sum+sum
			}
		}
		i := slices.IndexFunc(all, func(e elem) bool { return string(e.key) == keyManifest })
		all[i].value, _ = seal(keyManifest, m.bytes())
		if c, err := decode(all, tx); err != nil || same(c.state, newer.state) {
			t.Errorf("%s: without a manifest it would be found too, so what is it for? %v", name, err)
		}
	}
}
