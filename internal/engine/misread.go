package engine

// A Misreading is a rule left out, or taken wrongly: a negative control. Whoever
// judges the view service must find each of them.
type Misreading uint32

// The misreadings.
const (
	NoRound      Misreading = 1 << iota // renewals are acknowledged without asking a majority
	KeptLeases                          // a new leader counts leases on from what it last knew
	LostGhosts                          // a new leader forgets the ghosts of the record
	RenewsDoomed                        // one whose eviction is under way is renewed
	NoBase                              // a change is applied in whatever epoch
	NoTerm                              // a change is applied that an earlier leader proposed, and renewals since are forgotten
	Readmit                             // an evicted incarnation is a member again
	NoMargin                            // the service counts leases without a margin for drift
	KeptQueue                           // what waited in an older term is still waited on
	LastGhosts                          // a change names only the ghosts that it makes
	HastyGone                           // one that is not in the record was evicted, if it is younger than the record or not
	NoReach                             // who joins need not reach the members
	NoComplaint                         // complaints are not heeded
	DropsAll                            // a leaver and the one it complains about are both let go
	NoGrace                             // a leader that stood still takes all others to have been silent
	NoReads                             // who asks for the record is answered without asking a majority
)

func (w *Warden) misreads(x Misreading) bool { return w.wrong&x != 0 }
