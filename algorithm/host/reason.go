package host

// A Reason is why a machine took one decision of a step: the rule that it followed, and
// what the rule's sentence names. Which of these it names depends on the rule: Spec.Say
// makes the sentence.
type Reason struct {
	Rule             int // index into Spec.Rules
	Who, Other, Site ID
	A, B             Stamp
	Set              []ID
	N                int
}

// A Stamp is a logical time as a number, and the seat that it belongs to.
type Stamp struct {
	Time uint64
	ID   ID
}
