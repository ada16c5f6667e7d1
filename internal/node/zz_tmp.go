package node

import "github.com/stile-lock/stile/internal/process"

type Record struct {
	File  string
	Bytes int64
	By    string
}
type recorder struct{}

func (*recorder) discard()                     {}
func (*recorder) close()                       {}
func (n *Node) record(c *process.Config) error { return nil }
