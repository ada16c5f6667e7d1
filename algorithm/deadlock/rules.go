package deadlock

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// facts are what the sentences of rules name.
type facts = algorithm.Facts

// The rules: first those of all sites, then those that only some methods have.
const (
	homeAsk = iota
	homeDead
	homeMode
	homeGranted
	homeAbort
	homeLost
	homeEnd
	homeRelease
	homeCancel
	homeWaits
	homeWaitsNot
	homeVoid
	lockGrant
	lockHeld
	lockBehind
	lockFree
	lockBury
	siteDead
	siteVoid

	homeForbidden // ordered, banker
	lockWound
	lockDie
	lockTimeout

	bankNotify
	bankReady
	bankClosed
	bankUnsafe
	bankOlder

	findDeadlock // both ways of detection
	findConfirm
	findAbort
	findSpare
	findAnswer

	graphDemand
	graphAgain
	graphCollect
	graphSend
	graphCount
	graphKeep
	graphNone
	seatElect
	seatElected
	seatLead
	seatVote

	pathWaits
	pathCancel
	pathAway
	pathPush
	pathTake
	pathStale

	ruleCount
)

// siteRules returns the rules of all sites, with room for those of methods.
func siteRules() []algorithm.Rule {
	rules := [ruleCount]algorithm.Rule{
		homeAsk:      {ID: "1a", Text: "The home of a transaction sends its REQUEST to the site of the lock.", Why: "{self} asks {site} for {lock}, on behalf of {who}", Sends: "REQUEST"},
		homeDead:     {ID: "1b", Text: "A lock whose site is dead cannot be requested.", Why: "{self} denies {lock} to {who}, because the site of {lock} is dead", Notices: []host.NoticeKind{host.Denied}},
		homeMode:     {ID: "1c", Text: "More of a lock than there is cannot be requested.", Why: "{self} denies {lock} to {who}, because there is not so much of it", Notices: []host.NoticeKind{host.Denied}},
		homeGranted:  {ID: "2", Text: "GRANT gives the lock to the transaction that waits for it.", Why: "{self} notifies {who} that it has {lock}", Notices: []host.NoticeKind{host.Granted}},
		homeLost:     {ID: "3b", Text: "A transaction that has or wants a lock of a dead site aborts.", Why: "{self} makes {who} abort, because it has or wants a lock of {site}, which is dead", Notices: []host.NoticeKind{host.Victim}},
		homeEnd:      {ID: "4a", Text: "A transaction that commits or aborts frees all its locks.", Why: "{self} ends the attempt of {who}"},
		homeRelease:  {ID: "4b", Text: "Each site where it has or wants locks is notified.", Why: "{self} notifies {site} that the attempt of {who} has ended", Sends: "RELEASE"},
		homeCancel:   {ID: "4c", Text: "A transaction may give up a request and go on.", Why: "{self} notifies {site} that {who} no longer wants {lock}", Sends: "CANCEL"},
		homeVoid:     {ID: "4d", Text: "A message about another attempt, or a request that waits no longer, is void.", Why: "{self} ignores a message about {who}: that attempt or request has ended"},
		lockGrant:    {ID: "5a", Text: "A lock is granted when nothing that is held excludes it.", Why: "{self} grants {lock} to {who} of {site}", Sends: "GRANT"},
		lockHeld:     {ID: "5b", Text: "A request waits as long as the lock is held.", Why: "{self} makes {who} wait for {lock}, because {other} has it"},
		lockBehind:   {ID: "5c", Text: "A request waits for those before it.", Why: "{self} makes {who} wait for {lock}, behind others"},
		lockFree:     {ID: "5d", Text: "The end of an attempt, or of a request, frees what it has or wants.", Why: "{self} frees what {who} has or wants here"},
		lockBury:     {ID: "6a", Text: "What transactions of a dead site had is free.", Why: "{self} frees what transactions of {site} had or wanted, because it is dead"},
		siteDead:     {ID: "6b", Text: "Messages from a dead site are void.", Why: "{self} ignores {site}, which is dead"},
		siteVoid:     {ID: "void", Text: "A message that does not apply changes nothing.", Why: "{self} ignores {site}: the message does not apply"},
		homeWaits:    {},
		homeWaitsNot: {},
	}
	return append([]algorithm.Rule{}, rules[:]...)
}

// abortRule is that of methods which make transactions abort.
func abortRule(rules []algorithm.Rule) {
	rules[homeAbort] = algorithm.Rule{ID: "3a", Text: "A transaction that is ordered to abort does so.", Why: "{self} makes {who} abort, as {site} has ordered", Notices: []host.NoticeKind{host.Victim}}
}

func orderedRules(rules []algorithm.Rule) {
	rules[homeForbidden] = algorithm.Rule{ID: "1d", Text: "Locks must be requested in ascending order.", Why: "{self} denies {lock} to {who}, which has a later lock", Notices: []host.NoticeKind{host.Denied}}
}

// woundRules and dieRules are those of prevention. Methods by age compare stamps, the
// others numbers.
func woundRules(age bool) func(rules []algorithm.Rule) {
	return func(rules []algorithm.Rule) {
		abortRule(rules)
		rules[lockWound] = algorithm.Rule{ID: "7", Text: "A requester of higher rank makes the holder abort.", Why: "{self} wounds {who} of {site}, because {other}, which ranks above it, wants {lock}", Sends: "WOUND"}
		if age {
			rules[lockWound].Text = "An older requester wounds the younger holder."
			rules[lockWound].Why = "{self} wounds {who} of {site}, because {other} wants {lock}, and {a} comes before {b}"
		}
	}
}

func dieRules(age bool) func(rules []algorithm.Rule) {
	return func(rules []algorithm.Rule) {
		abortRule(rules)
		rules[lockDie] = algorithm.Rule{ID: "7", Text: "A requester of lower rank than the holder dies.", Why: "{self} makes {who} of {site} die, because {other}, which ranks above it, has {lock}", Sends: "DIE"}
		if age {
			rules[lockDie].Text = "A requester that is younger than the holder dies."
			rules[lockDie].Why = "{self} makes {who} of {site} die, because {other} has {lock}, and {a} comes before {b}"
		}
	}
}

func timeoutRules(rules []algorithm.Rule) {
	abortRule(rules)
	rules[lockTimeout] = algorithm.Rule{ID: "7", Text: "A transaction that has waited too long aborts.", Why: "{self} makes {who} of {site} abort, because it has waited too long for {lock}", Sends: "DIE"}
}

func bankerRules(rules []algorithm.Rule) {
	rules[homeForbidden] = algorithm.Rule{ID: "1d", Text: "Only a lock that was claimed can be requested, and not to share.", Why: "{self} denies {lock} to {who}, which did not claim it", Notices: []host.NoticeKind{host.Denied}}
	rules[lockGrant].Text = "A lock is granted if all can still end, one after the other."
	rules[lockGrant].Why = "{self} grants {lock} to {who} of {site}: all can still end, one after the other"
	rules[bankUnsafe] = algorithm.Rule{ID: "7a", Text: "A lock is not granted if the state would not be safe.", Why: "{self} makes {who} wait for {lock}: if it had it, not all could end"}
	rules[bankOlder] = algorithm.Rule{ID: "7b", Text: "A transaction that has nothing does not overtake an older one with the same claim.", Why: "{self} makes {who} wait for {lock}, which an older transaction that waits has claimed"}
	rules[bankClosed] = algorithm.Rule{ID: "8a", Text: "A new banker waits until all that the earlier one granted is free.", Why: "{self} makes no grants: it is not the banker, or earlier locks may not be free"}
	rules[bankNotify] = algorithm.Rule{ID: "8b", Text: "A site whose transactions have released those locks notifies the new banker.", Why: "{self} notifies {site}, the new banker, that it has no earlier locks", Sends: "DEMAND"}
	rules[bankReady] = algorithm.Rule{ID: "8c", Text: "The new banker counts the sites that have.", Why: "{self} notes that {site} has no earlier locks"}
	rules[lockBehind] = algorithm.Rule{}
}

// findRules are those of detection.
func findRules(rules []algorithm.Rule) {
	abortRule(rules)
	rules[findDeadlock] = algorithm.Rule{ID: "7a", Text: "Of the transactions that wait for each other, the youngest is the victim.", Why: "{self} sees that {set} wait for each other; {who} is the youngest"}
	rules[findAbort] = algorithm.Rule{ID: "7b", Text: "The victim aborts.", Why: "{self} orders {who} of {site} to abort", Sends: "ABORT"}
}

// confirmRules are those of detection that asks before a transaction aborts.
func confirmRules(rules []algorithm.Rule) {
	rules[findConfirm] = algorithm.Rule{ID: "8a", Text: "Before that, each transaction's home is asked whether it still waits.", Why: "{self} asks {site} whether {who} still waits", Sends: "CONFIRM"}
	rules[findAnswer] = algorithm.Rule{ID: "8b", Text: "All must confirm.", Why: "{self} has the answer of {site} about {who}"}
	rules[findSpare] = algorithm.Rule{ID: "8c", Text: "If one no longer waits, there is no deadlock.", Why: "{self} spares {who}, because not all of them still wait"}
	rules[homeWaits] = algorithm.Rule{ID: "8d", Text: "A home answers whether the transaction waits with that request.", Why: "{self} answers {site} that {who} still waits", Sends: "ANSWER"}
	rules[homeWaitsNot] = algorithm.Rule{ID: "8e", Text: "It does not if it has the lock, has given up, or waits with another request.", Why: "{self} answers {site} that {who} no longer waits so", Sends: "ANSWER"}
}

func graphRules(mode string) func(rules []algorithm.Rule) {
	return func(rules []algorithm.Rule) {
		findRules(rules)
		rules[graphSend] = algorithm.Rule{ID: "9a", Text: "Each site sends its graph to the coordinator when it has changed.", Why: "{self} sends its graph to {site}", Sends: "GRAPH"}
		switch mode {
		case OnDemand:
			confirmRules(rules)
			rules[graphSend].Text = "Each site sends its graph to the coordinator when it is asked."
			rules[graphDemand] = algorithm.Rule{ID: "9b", Text: "The home of a transaction that has waited for long demands a round.", Why: "{self} demands a round from {site}, because {who} has waited for long", Sends: "DEMAND"}
			rules[graphCollect] = algorithm.Rule{ID: "9c", Text: "The coordinator collects the graphs of all sites in a round.", Why: "{self} asks {site} for its graph", Sends: "COLLECT"}
			rules[graphAgain] = algorithm.Rule{ID: "9d", Text: "A demand during a round is for the next one.", Why: "{self} notes that {site} demands a round"}
		case InBatch:
			rules[graphSend].Text = "Each site sends its graph to the coordinator after some changes."
			rules[graphCount] = algorithm.Rule{ID: "9b", Text: "A few changes are sent together.", Why: "{self} counts {n} changes of its graph"}
		}
		rules[graphKeep] = algorithm.Rule{ID: "9e", Text: "The coordinator keeps the graphs, and searches them.", Why: "{self} has the graph of {site}"}
		rules[graphNone] = algorithm.Rule{ID: "9f", Text: "If no transactions wait for each other, nothing is done.", Why: "{self} finds no deadlock"}
		rules[seatElect] = algorithm.Rule{ID: "10a", Text: "When the coordinator dies, ELECTION goes round the sites.", Why: "{self} sends ELECTION to {site}", Sends: "ELECTION"}
		rules[seatElected] = algorithm.Rule{ID: "10b", Text: "Then COORDINATOR goes round.", Why: "{self} sends COORDINATOR to {site}", Sends: "COORDINATOR"}
		rules[seatLead] = algorithm.Rule{ID: "10c", Text: "The site that was elected is the coordinator.", Why: "{self} takes {site} as the coordinator", Notices: []host.NoticeKind{host.Leader}}
		rules[seatVote] = algorithm.Rule{ID: "10d", Text: "Messages of the election are those of a ring election.", Why: "{self} takes part in the election, by a message from {site}"}
	}
}

func pathRules(rules []algorithm.Rule) {
	findRules(rules)
	confirmRules(rules)
	rules[findSpare].Why = "{self} drops the deadlock of {who}, which no longer waits so"
	rules[pathWaits] = algorithm.Rule{ID: "9a", Text: "A home notifies the sites where its transaction has locks that it waits elsewhere.", Why: "{self} notifies {site} that {who}, which has locks there, waits for {lock}", Sends: "WAITS"}
	rules[pathCancel] = algorithm.Rule{ID: "9b", Text: "It notifies them, too, if the transaction gives up that request.", Why: "{self} notifies {site} that {who} no longer waits for {lock}", Sends: "CANCEL"}
	rules[pathAway] = algorithm.Rule{ID: "9c", Text: "A transaction with locks here that waits elsewhere is waited for, and leads elsewhere.", Why: "{self} notes that {who}, which has locks here, waits for {lock}"}
	rules[pathPush] = algorithm.Rule{ID: "9d", Text: "A path is pushed to where its last node waits, if that has a smaller number than the first.", Why: "{self} pushes the path from {other} to {who}, which waits for {lock}, to {site}", Sends: "PATH"}
	rules[pathTake] = algorithm.Rule{ID: "9e", Text: "A path that arrives becomes part of the graph.", Why: "{self} adds the path from {other} to {who} to its graph"}
	rules[pathStale] = algorithm.Rule{ID: "9f", Text: "A path with a transaction that has ended, or waits no longer, is void.", Why: "{self} ignores a path: it has ended, in part at least"}
}
