package algorithm

import "slices"

// A Picture is what an algorithm is best drawn as.
type Picture string

// The pictures.
const (
	Unshaped Picture = ""        // nobody has chosen: it is drawn as a mesh
	Star     Picture = "star"    // one in the middle, the others around it
	Ring     Picture = "ring"    // each beside the next
	TreeLike Picture = "tree"    // as Shape.Links say
	Grid     Picture = "grid"    // rows and columns
	Plane    Picture = "plane"   // the lines of a projective plane
	Mesh     Picture = "mesh"    // everybody talks to everybody
	Tickets  Picture = "tickets" // everybody has a number
	Flags    Picture = "flags"   // a ring of numbers
	Rounds   Picture = "rounds"  // an election
	AtSites  Picture = "sites"   // sites with processes and locks
)

// A Shape says how an algorithm is drawn, and what fields of its state, as
// Describe and Apart name them, mean. It is for hosts that show states to people;
// nothing else looks at it, and an algorithm does without.
type Shape struct {
	Picture Picture
	Title   string // what is to be seen, in a few words

	Pointer string   // the field that leads to a process: an arrow
	Next    string   // the field that says who comes after this one
	Asked   string   // it has asked where Pointer leads
	Queue   string   // who waits here
	Token   string   // it has the token; where there is none but a Pointer, who points at itself has it
	Vote    string   // whom it has voted for
	Number  string   // its ticket, flag or round
	Got     string   // who waits: whose answers it has
	Awaited []string // who waits: whose answers it needs; the first that names somebody counts
	Stamps  string   // the times of all requests it knows of, by seat; the oldest goes first, and 0 is none

	Members string // the field that says who takes part, by seat; empty if everybody does for ever
	Stopped string // the field that says that this one waits until others take part
	Maker   string // and the one that says who is to decide on them
	Fresh   string // it is yes while a process is new and takes part in nothing: what else its state says does not count

	Waits []Wait // of an election: what a process waits for; the first that is so counts

	Answer  string // the kind of message that who waits needs
	Release string // the kind of message by which who leaves tells the others
	Carrier string // the kind of message that is the token

	Hub    func(n int) ID      // Star: who is in the middle; nil means the first
	Links  func(n int) [][2]ID // TreeLike: who is beside whom; Ring: who sends to whom, nil meaning each to the next higher
	Enough func(n int) int     // how many answers are enough; nil means all
	Sets   func(n int) []Set   // whom each asks, if that is not everybody
}

// A Wait is what a process waits for while a field has a value.
type Wait struct {
	Field, Value string
	Why          string // in words: "waits for an answer from %s"
	Whom         Whom   // who is named in it
}

// Whom a Wait names.
type Whom uint8

// The choices of Whom.
const (
	Nobody  Whom = iota
	Higher       // everybody above the process
	Highest      // the highest above it that has not crashed
)

// Fields returns the names of all fields that s speaks of.
func (s Shape) Fields() []string {
	var names []string
	for _, w := range s.Waits {
		names = append(names, w.Field)
	}
	for _, name := range append([]string{s.Pointer, s.Next, s.Asked, s.Queue, s.Token, s.Vote, s.Number, s.Got, s.Stamps, s.Members, s.Stopped, s.Maker, s.Fresh}, s.Awaited...) {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Within returns the shape of an algorithm that is a part of another one, called
// so, which has fields of these names itself: see Coder.Inner.
func (s Shape) Within(name string, own ...string) Shape {
	again := func(field string) string {
		if slices.Contains(own, field) {
			return name + " " + field
		}
		return field
	}
	s.Pointer, s.Next, s.Asked, s.Queue, s.Token = again(s.Pointer), again(s.Next), again(s.Asked), again(s.Queue), again(s.Token)
	s.Vote, s.Number, s.Got, s.Stamps = again(s.Vote), again(s.Number), again(s.Got), again(s.Stamps)
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
