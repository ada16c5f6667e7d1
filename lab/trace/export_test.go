package trace

// What tests of layouts need to name.
type (
	Arrow  = arrow
	Length = length
	Offset = offset
)

const (
	EndArrives       = endArrives
	MarkViolation    = markViolation
	SampleCopy       = sampleCopy
	UprightViolation = uprightViolation
)

var TextWidth = textWidth

func (l *Layout) Path(a *Arrow) []Offset   { return l.path(a) }
func (l *Layout) Y(p point) Length         { return l.y(p) }
func (t *Trace) Pages(o Options) []Options { return t.pages(o) }
