package trace

import (
	"slices"

	"github.com/stile-lock/stile/internal/draw"
)

// legend explains what is in the picture, and nothing else, in as many rows as needed. It
// returns where the next row would be.
func (p *plan) legend(y length) length {
	g := &p.l.Page
	x := g.Left
	for _, s := range p.samples() {
		wide := 44*pixel + textWidth(s.Text, barType) + 20*pixel
		if x > g.Left && x+wide > g.Width {
			x, y = g.Left, y+20*pixel
		}
		s.X, s.Y, s.TextX, s.TextY = x, y, x+44*pixel, y+4*pixel
		p.l.Legend = append(p.l.Legend, s)
		x += wide
	}
	if len(p.l.Legend) == 0 {
		return y
	}
	return y + 20*pixel
}

// samples returns what is in the picture and needs an explanation.
func (p *plan) samples() []sample {
	all := p.arrowSamples()
	for _, bar := range []struct{ means, text string }{
		{barWaiting, either(p.t.Waiting != "", draw.Clean(p.t.Waiting), "waiting")},
		{barInside, either(p.t.Inside != "", draw.Clean(p.t.Inside), "critical section")},
		{barBroken, "two inside"},
	} {
		if slices.ContainsFunc(p.l.Bars, func(b strip) bool { return b.Means == bar.means }) {
			all = append(all, sample{Shows: sampleBar, Means: bar.means, Kind: -1, Text: bar.text})
		}
	}
	for _, mark := range []struct{ means, text string }{
		{markCrash, "crash"}, {markRestart, "restart without memory"}, {markPause, "pause"}, {markResume, "resume"},
		{markSuspect, "suspicion"}, {markTrust, "trust regained"}, {markTimer, "timer expires"}, {markLead, "leader"}, {markDenied, "denied"},
		{markEnded, "end"}, {markAbort, "victim chosen"}, {markNote, "note"}, {markViolation, "violation"},
	} {
		if slices.ContainsFunc(p.l.Marks, func(m sign) bool { return m.Means == mark.means }) {
			all = append(all, sample{Shows: sampleMark, Means: mark.means, Kind: -1, Text: mark.text})
		}
	}
	placed := slices.ContainsFunc(p.l.Marks, func(m sign) bool { return m.Means == markViolation })
	for _, line := range []struct{ means, text string }{
		{uprightCut, "network partitioned"}, {uprightHealed, "network whole again"}, {uprightViolation, "violation"}, {uprightFocus, "focus"}, {uprightNote, "remark"},
	} {
		if placed && line.means == uprightViolation {
			continue // its mark is explained
		}
		if slices.ContainsFunc(p.l.Uprights, func(u upright) bool { return u.Means == line.means }) {
			all = append(all, sample{Shows: sampleUpright, Means: line.means, Kind: -1, Text: line.text})
		}
	}
	return all
}

// arrowSamples explains the arrows.
func (p *plan) arrowSamples() []sample {
	var all []sample
	some := func(what func(a *arrow) bool) bool {
		return slices.ContainsFunc(p.l.Arrows, func(a arrow) bool { return what(&a) })
	}
	for i, k := range p.l.Kinds {
		if !some(func(a *arrow) bool { return a.Kind == i }) {
			continue
		}
		text := k.Name
		if p.letters && k.Letter != k.Name && some(func(a *arrow) bool { return a.Kind == i && a.Label != nil }) {
			text = k.Letter + " = " + k.Name
		}
		all = append(all, sample{Shows: sampleArrow, Kind: i, Text: text})
	}
	if some(func(a *arrow) bool { return a.End == endLost }) {
		all = append(all, sample{Shows: sampleEnd, Means: endLost, Kind: -1, Text: "lost"})
	}
	if some(func(a *arrow) bool { return a.End == endOpen }) {
		all = append(all, sample{Shows: sampleEnd, Means: endOpen, Kind: -1, Text: "still in flight"})
	}
	if some(func(a *arrow) bool { return a.Copy && p.letters && a.Label != nil }) {
		all = append(all, sample{Shows: sampleCopy, Kind: -1, Text: "copy made by the network"})
	}
	return all
}
