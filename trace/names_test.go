package trace

import (
	"strings"
	"testing"
)

func TestSVGCallsLanesByTheirNames(t *testing.T) {
	tr := Trace{N: 2, Names: []string{"", "the <account>"}, Events: []Event{{Kind: Note, Name: "x"}}}
	svg := tr.SVG(SVGOptions{})
	for _, want := range []string{">P1<", ">the &lt;account&gt;<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in the picture:\n%s", want, svg)
		}
	}
	if strings.Contains(svg, ">P2<") {
		t.Error("P2 has a name, but the picture calls it P2")
	}
}
