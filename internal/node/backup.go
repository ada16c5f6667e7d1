package node

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc64"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/internal/views"
)

// A Backup is what is needed to begin a cluster again when its voters are lost: the record
// of its last known view, with the settings, the algorithms, the number of voters and the
// members, and the highest epoch that was seen. It contains no locks.
type Backup struct {
	Record views.Record
	Seen   uint64
}

var errCut = errors.New("it was changed or cut off")

// Text returns the contents of a backup file. The first lines are for people.
func (b *Backup) Text() string {
	var names []string
	for _, m := range b.Record.Members {
		names = append(names, strconv.Quote(m.Name))
	}
	open := b.Record.Open()
	return seal(fmt.Sprintf("stile backup, format 1\ncluster %016x\nmembers %s\nepoch %d\nrecord %s\n",
		b.Record.Cluster, strings.Join(names, " "), b.Seen, base64.StdEncoding.EncodeToString(open.AppendTo(nil))))
}

// ParseBackup reads a backup. It accepts only what Text returns.
func ParseBackup(text string) (*Backup, error) {
	b := &Backup{}
	var record string
	for line := range strings.Lines(text) {
		_, _ = fmt.Sscanf(line, "epoch %d\n", &b.Seen) // other lines do not fit
		_, _ = fmt.Sscanf(line, "record %s\n", &record)
	}
	bytes, err := base64.StdEncoding.DecodeString(record)
	if err == nil {
		b.Record, err = views.ParseRecord(bytes)
	}
	if err == nil && b.Text() != text {
		err = errCut
	}
	if err != nil {
		return nil, fmt.Errorf("not a stile backup: %w: use another copy", err)
	}
	return b, nil
}

// A recovery is how a node begins a cluster when it is started next. 'stile recover' leaves
// it in the data directory.
type recovery struct {
	views.Restore
	backup *Backup // nil if all is lost
}

// record returns the record that the cluster begins from: an empty one if all is lost.
func (x *recovery) record() *views.Record {
	if x.backup == nil {
		return &views.Record{}
	}
	return &x.backup.Record
}

// text returns the contents of the file.
func (x *recovery) text() string {
	text := x.heading()
	if x.backup != nil {
		text += x.backup.Text()
	}
	return seal(text)
}

func (x *recovery) heading() string {
	return fmt.Sprintf("stile recovery, format 1\ncluster %016x\nseen %d\nclock %d\n", x.Cluster, x.Seen, x.Clock)
}

// parseRecovery reads a recovery. It accepts only what text returns.
func parseRecovery(text string) (*recovery, error) {
	x := &recovery{}
	_, err := fmt.Sscanf(text, "stile recovery, format 1\ncluster %x\nseen %d\nclock %d\n", &x.Cluster, &x.Seen, &x.Clock)
	if err != nil {
		return nil, err
	}
	if x.text() == text {
		return x, nil
	}
	rest, ok := strings.CutPrefix(text, x.heading())
	if end := strings.LastIndex(rest, "sum "); ok && end >= 0 {
		x.backup, err = ParseBackup(rest[:end])
	}
	if err != nil || x.text() != text {
		return nil, errors.Join(err, errCut)
	}
	return x, nil
}

// seal adds a checksum to some lines.
func seal(lines string) string {
	return fmt.Sprintf("%ssum %016x\n", lines, crc64.Checksum([]byte(lines), crc64.MakeTable(crc64.ECMA)))
}
