package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
)

// A node of an older version is asked for its status instead of its pulse, and for a while not
// for more. Other errors, and denials by a node that knows the question, stay what they are.
func TestOlderNodes(t *testing.T) {
	unknown := client.Declined("the node does not know query 10: use the same version of stile on both sides")
	denied := fmt.Errorf("%w: query 10 is for administrators", lock.ErrDenied)
	down := errors.New("connection refused")
	for what, x := range map[string]struct {
		pulse, status error
		want          error
		asks          []uint64 // for the first pulse, for a second one, and for past holders
	}{
		"a node of this version":          {nil, nil, nil, []uint64{AskPulse, AskPulse, AskPast}},
		"an older node":                   {unknown, nil, nil, []uint64{AskPulse, AskStatus, AskStatus}},
		"an older node with rights":       {denied, nil, nil, []uint64{AskPulse, AskStatus, AskStatus}},
		"a node that denies both":         {denied, denied, denied, []uint64{AskPulse, AskStatus, AskPulse, AskStatus, AskPast}},
		"a node that does not answer":     {down, down, down, []uint64{AskPulse, AskPulse, AskPast}},
		"an older node that is then gone": {unknown, down, unknown, []uint64{AskPulse, AskStatus, AskPulse, AskStatus, AskPast}},
	} {
		var o olderNodes
		var asked []uint64
		now := time.Now()
		ask := func(what uint64) ([]byte, error) {
			asked = append(asked, what)
			switch what {
			case AskStatus:
				return []byte(`{"node":"old","state":"member","members":[]}`), x.status
			case AskPulse:
				return []byte(`{"node":"old","lease_margin_s":3}`), x.pulse
			}
			return nil, x.pulse
		}
		for range 2 {
			b, err := o.ask("old:1", AskPulse, now, ask)
			var p Pulse
			if !errors.Is(err, x.want) || err == nil && (json.Unmarshal(b, &p) != nil || p.Node != "old" || strings.Contains(string(b), "null")) {
				t.Errorf("%s: %s, %v", what, b, err)
			}
			if older := x.pulse != nil; err == nil && (p.Margin != -1) == older {
				t.Errorf("%s: %+v", what, p)
			}
		}
		if _, err := o.ask("old:1", AskPast, now, ask); (err == nil) != (x.pulse == nil) {
			t.Errorf("%s: past holders: %v", what, err)
		}
		if !slices.Equal(asked, x.asks) {
			t.Errorf("%s: asked %v, want %v", what, asked, x.asks)
		}
		asked = nil
		_, _ = o.ask("other:1", AskPulse, now, ask)
		_, _ = o.ask("old:1", AskPulse, now.Add(olderFor), ask)
		if asked[0] != AskPulse || slices.Index(asked[1:], AskPulse) < 0 {
			t.Errorf("%s: another node, and the same one later: %v", what, asked)
		}
		asked = nil
		if _, err := o.ask("old:1", AskLocks, now, ask); !slices.Equal(asked, []uint64{AskLocks}) || err != x.pulse {
			t.Errorf("%s: another question: %v, %v", what, asked, err)
		}
	}
}

// Nodes ask each other for their pulses.
func TestPulseOfOthers(t *testing.T) {
	all := start(t, 2, measured)
	var p Pulse
	if err := all[0].AskAt(t.Context(), all[1].Address(), AskPulse, []byte("{}"), &p); err != nil || p.Node != "b" || !p.Measured {
		t.Errorf("%+v, %v", p, err)
	}
}
