package algorithm

import "slices"

// A Picture is the way an algorithm is best drawn.
type Picture string

// The pictures.
const (
	Unshaped Picture = ""        // not chosen; drawn as a mesh
	Star     Picture = "star"    // one process in the middle, the others around it
	Ring     Picture = "ring"    // each process beside the next
	TreeLike Picture = "tree"    // as Shape.Links says
	Grid     Picture = "grid"    // rows and columns
	Plane    Picture = "plane"   // the lines of a projective plane
	Mesh     Picture = "mesh"    // every process talks to every other
	Tickets  Picture = "tickets" // every process has a number
	Flags    Picture = "flags"   // a ring of numbers
	Rounds   Picture = "rounds"  // an election
	AtSites  Picture = "sites"   // sites with processes and locks
)

// A Shape describes how an algorithm is drawn, and what the fields of its state, as named
// by Machine.Describe, mean. It is for hosts that show states to people. Nothing else
// uses it, and an algorithm can do without one.
type Shape struct {
	Picture Picture
	Title   string // caption, in a few words

	Pointer string   // field with the process it points to: an arrow
	Next    string   // field with the process after this one
	Asked   string   // field that says whether it has asked the process that Pointer leads to
	Queue   string   // field with the processes waiting here
	Token   string   // field that says whether it has the token; without one, a process whose Pointer is itself has it
	Vote    string   // field with the process it has voted for
	Number  string   // field with its ticket, flag or round
	Got     string   // field with the processes whose answers it has, while waiting
	Awaited []string // fields with the processes whose answers it needs, while waiting; the first that names any counts
	Stamp   string   // field with the time of its own request, while waiting or inside
	Stamps  string   // field with the times of all requests it knows of, by seat; the oldest goes first, and 0 is none

	Members string // field with the participants, by seat; empty if all processes take part forever
	Stopped string // field that says that this process waits until others take part
	Maker   string // field with the process that decides on the participants
	Fresh   string // field that is yes while a process is new and takes part in nothing: the rest of its state does not count

	Waits []Wait // elections: what a process waits for; the first that applies counts

	Answer  string // kind of message that a waiting process needs
	Release string // kind of message by which a leaving process notifies the others
	Carrier string // the kind of message that is the token

	Hub    func(n int) ID      // Star: the process in the middle; nil means the first
	Links  func(n int) [][2]ID // TreeLike: neighbours; Ring: sender and receiver, nil meaning each to the next higher
	Enough func(n int) int     // number of answers that suffice; nil means all
	Sets   func(n int) []Set   // processes that each process asks, if not all
}

// A Wait is what a process waits for while a field has a value.
type Wait struct {
	Field, Value string
	Why          string // text for people: "waits for an answer from %s"
	Whom         Whom   // processes named in Why
}

// Whom is the set of processes that a Wait names.
type Whom uint8

// The choices of Whom.
const (
	Nobody  Whom = iota
	Higher       // all processes above this one
	Highest      // the highest process above it that has not crashed
)

// Fields returns the names of all fields that s refers to.
func (s Shape) Fields() []string {
	var names []string
	for _, w := range s.Waits {
		names = append(names, w.Field)
	}
	for _, name := range append([]string{s.Pointer, s.Next, s.Asked, s.Queue, s.Token, s.Vote, s.Number, s.Got, s.Stamp, s.Stamps, s.Members, s.Stopped, s.Maker, s.Fresh}, s.Awaited...) {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Within returns the shape of an algorithm that is part of another. Fields that the outer
// algorithm has too, named by own, get name as a prefix: see Coder.Inner.
func (s Shape) Within(name string, own ...string) Shape {
	again := func(field string) string {
		if slices.Contains(own, field) {
			return name + " " + field
		}
		return field
	}
	s.Pointer, s.Next, s.Asked, s.Queue, s.Token = again(s.Pointer), again(s.Next), again(s.Asked), again(s.Queue), again(s.Token)
	s.Vote, s.Number, s.Got, s.Stamp, s.Stamps = again(s.Vote), again(s.Number), again(s.Got), again(s.Stamp), again(s.Stamps)
	waits := s.Waits
	s.Waits = nil
	for _, w := range waits {
		w.Field = again(w.Field)
		s.Waits = append(s.Waits, w)
	}
	awaited := s.Awaited
	s.Awaited = nil
	for _, name := range awaited {
		s.Awaited = append(s.Awaited, again(name))
	}
	return s
}
