package tell

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// A Progress is a line on a terminal that says how far a command is; elsewhere
// it shows nothing.
type Progress struct {
	w     io.Writer // nil if there is no terminal
	shown int       // how much of the bar
}

// NewProgress returns the line of a command that is to tell on w how far it is.
func NewProgress(w io.Writer) *Progress {
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &Progress{w: w, shown: -1}
		}
	}
	return &Progress{}
}

// Bar shows how many runs are done.
func (p *Progress) Bar(done, total int) {
	const length = 40
	if at := done * length / total; p.w != nil && at != p.shown {
		p.shown = at
		fmt.Fprintf(p.w, "\r[%-*s] %d of %d runs", length, strings.Repeat("#", at), done, total)
	}
}

// Line replaces the line.
func (p *Progress) Line(text string) {
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	}
}

// Clear removes the line.
func (p *Progress) Clear() { p.Line("") }
