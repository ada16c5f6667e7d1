package storm

import (
	"fmt"

	"github.com/stile-lock/stile/internal/cli/tell"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/storm"
)

// A report is what came of the storms, for programs.
type report struct {
	Seeds      int              `json:"seeds"` // that were stormed
	Algorithms []string         `json:"algorithms"`
	Faults     []string         `json:"faults"`
	Entries    int              `json:"entries"`
	Views      int              `json:"views"`
	Hours      float64          `json:"simulated_hours"`
	Violations int              `json:"violations"` // seeds that broke an invariant
	First      *violation       `json:"first_violation"`
	FirstSeed  uint64           `json:"first_seed"`
	Nodes      []int            `json:"nodes"`
	Strikes    int              `json:"strikes"` // faults that happened
	Lost       int              `json:"lost"`    // holds that were lost, and told
	Busy       int              `json:"busy"`    // tries that were refused
	Deposits   int              `json:"deposits"`
	Refused    int              `json:"refused_writes"`
	Longest    float64          `json:"longest_wait_ms"`
	Frames     []frames         `json:"frames"`
	Commit     string           `json:"commit"` // unknown if not built from a repository
	Digest     string           `json:"digest"` // of all that happened
	Stopped    bool             `json:"stopped,omitempty"`
	List       []strike         `json:"list,omitempty"` // the faults of one seed
}

// A violation is the first one, by the order of the seeds.
type violation struct {
	Seed      uint64   `json:"seed"`
	Algorithm string   `json:"algorithm"`
	Nodes     int      `json:"nodes"`
	Invariant string   `json:"invariant"`
	At        float64  `json:"at_ms"`
	Text      string   `json:"text"`
	Command   string   `json:"command"` // makes it again
	Story     *shrunk  `json:"story,omitempty"`
}

// A shrunk is the smallest run that was found that breaks the same.
type shrunk struct {
	Algorithm string   `json:"algorithm"`
	Nodes     int      `json:"nodes"`
	Locks     int      `json:"locks"`
	Apps      int      `json:"applications"`
	Clients   int      `json:"clients"`
	Length    float64  `json:"faults_ms"`
	Strikes   []strike `json:"strikes"`
	At        float64  `json:"at_ms"`
	Text      string   `json:"text"`
	Runs      int      `json:"runs"` // that were made to find it
}

// A strike is one fault.
type strike struct {
	At   float64 `json:"at_ms"`
	For  float64 `json:"for_ms"`
	Kind string  `json:"fault"`
	Who  int     `json:"process"` // its place, from 1
	Peer int     `json:"peer"`    // the other end, if the fault has one
	How  int     `json:"how"`
}

// frames counts those of a kind.
type frames struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}
