package recovery

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// facts are what the sentences of rules name.
type facts = algorithm.Facts

// The rules of views. In a Spec they follow those of the lock and those of the election.
const (
	viewReport = iota
	viewOwn
	viewGot
	viewAwait
	viewMake
	viewBegin
	viewFreeze
	viewStop
	viewAgain
	viewJoin
	viewNew
	viewForetold
	viewEarly
	viewFrozen
	viewOther
	viewDoubt
	viewWho
	viewHere
	viewHeard
	viewVoid
)

func viewRules(patience int) []algorithm.Rule {
	rules := []algorithm.Rule{
		viewReport:   {ID: "V1a", Text: "A process whose view has ended reports to the leader, once.", Why: "{self} reports to {who}, which leads", Sends: "REPORT"},
		viewOwn:      {ID: "V1b", Text: "The leader counts its own report.", Why: "{self} leads the making of the next view"},
		viewGot:      {ID: "V1c", Text: "The leader collects reports.", Why: "{self} has the report of {who}"},
		viewAwait:    {ID: "V2a", Text: "The leader waits until all live processes have reported.", Why: "{self} waits for the report of {who}"},
		viewMake:     {ID: "V2b", Text: "When all have reported, it makes a view of them.", Why: "{self} makes view {n}: {set} are alive, and have reported", Sends: "VIEW"},
		viewBegin:    {ID: "V3a", Text: "A view begins with a new lock, held by the process that is inside.", Why: "{self} begins view {n} with {set}"},
		viewFreeze:   {ID: "V3b", Text: "A view ends when a member dies, a process joins, or a message is lost.", Why: "{self} freezes its lock until the next view"},
		viewStop:     {ID: "V4a", Text: "The leader stops members that may not know that the view has ended.", Why: "{self} stops {who}, because the view has ended", Sends: "STOP"},
		viewAgain:    {ID: "V4b", Text: "A report from before the present view does not count.", Why: "{self} needs another report of {who}, which had not heard of this view"},
		viewJoin:     {ID: "V5a", Text: "A new process announces itself to all.", Why: "{self} announces itself to {who}", Sends: "JOIN"},
		viewNew:      {ID: "V5b", Text: "The next view lets a new process in.", Why: "{self} notes that {who} is new"},
		viewForetold: {ID: "V5c", Text: "A view may arrive before the JOIN of a process that it lets in.", Why: "{self} knows already that {who} is new"},
		viewEarly:    {ID: "V6a", Text: "A message of a later view is kept until that begins.", Why: "{self} keeps a message of {who} until its view begins", Silent: true},
		viewFrozen:   {ID: "V6b", Text: "A frozen lock does nothing; the next view makes up for it.", Why: "{self} waits for the next view"},
		viewOther:    {ID: "V6c", Text: "A message of another view is void, and so is one to a process that is not yet in any.", Why: "{self} ignores a message of {who}, which is not for its view"},
		viewDoubt:    {},
		viewWho:      {},
		viewHere:     {},
		viewHeard:    {},
		viewVoid:     {ID: "V8", Text: "A message that does not apply changes nothing.", Why: "{self} ignores {who}: the message does not apply"},
	}
	if patience > 0 {
		rules[viewDoubt] = algorithm.Rule{ID: "V7a", Text: "A process that has waited for long notifies the leader.", Why: "{self} has waited for long, and notifies {who}, which leads", Sends: "DOUBT"}
		rules[viewWho] = algorithm.Rule{ID: "V7b", Text: "The leader then asks all whether they are inside.", Why: "{self} asks {who} whether it is inside", Sends: "WHO"}
		rules[viewHere] = algorithm.Rule{ID: "V7c", Text: "Each process answers.", Why: "{self} answers {who} whether it is inside", Sends: "HERE"}
		rules[viewHeard] = algorithm.Rule{ID: "V7d", Text: "If none is inside, the view ends.", Why: "{self} has heard whether {who} is inside"}
	}
	return rules
}

// composed returns the rules of a lock, an election and views. What the election reports
// stays within the process.
func composed(lock, elect []algorithm.Rule, patience int) []algorithm.Rule {
	elect = slices.Clone(elect)
	for i := range elect {
		if elect[i].Notices = nil; elect[i].ID != "" {
			elect[i].ID = "E" + elect[i].ID
		}
	}
	return slices.Concat(lock, elect, viewRules(patience))
}

// because names a rule of views.
func (s *process) because(rule int, f facts, o *out) { o.Because(s.rules+rule, f) }
