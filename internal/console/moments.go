package console

import (
	"math"
	"time"
)

// jitter is by how much two computations of a moment may differ: answers take time to arrive.
const jitter = 250 // milliseconds

// moments remember the moments of a document. They were computed from durations, a little
// differently each time; one that is about the same as before stays the same.
type moments struct {
	now      time.Time
	was, are map[string]int64
}

// begin begins the next document.
func (m *moments) begin() {
	m.now = time.Now()
	m.was, m.are = m.are, map[string]int64{}
}

// at returns a moment in milliseconds, by a key that is unique in the document.
func (m *moments) at(key string, ms int64) int64 {
	if old, ok := m.was[key]; ok && ms-old <= jitter && old-ms <= jitter {
		ms = old
	}
	m.are[key] = ms
	return ms
}

// ago returns the moment some seconds ago, or ahead if they are negative.
func (m *moments) ago(key string, seconds float64) int64 {
	return m.at(key, m.now.UnixMilli()-int64(math.Round(seconds*1000)))
}
