package member

// A Misreading is a rule of docs/protocol.md left out, or taken wrongly: a
// negative control. Whoever judges members must find each of them.
type Misreading uint64

// The misreadings, each after the section that has its rule.
const (
	NoTouch         Misreading = 1 << iota // 4: a first request that does not reach the home is not told to it
	Reborn                                 // 3: an idle instance goes back to the state it was born in
	StaleReport                            // 7: the report is older than the end of the epoch: what was entered in between is not in it
	NoReports                              // 7: the home waits for no report
	MostReports                            // 7: the home waits for the reports of a majority
	NotOnBehalf                            // 7: the home does not stay inside for those who reported that they are
	NoGhosts                               // 7: the home waits for no lease of the evicted
	NoLendee                               // 7: a witness that was home forgets whom it had lent to
	CountClears                            // 7: a lock that has been entered counts as one that its home has let go of
	AnyWitness                             // 7: who was not in the view before testifies
	UntouchedProves                        // 7: what the home before knew nothing of, nobody is inside of
	NoReleased                             // 6: that a carried-over holder has let go is not told
	NoOrder                                // 7: the home does not lend: all ask anew
	LeftInOrder                            // 7: a loan that nobody here wants any more is not given back
	NoDone                                 // 6: who reports too late is not told to ask by the algorithm
	KeepsLost                              // 8: a hold does not end with the lease
	Unleased                               // 4: whoever is granted a lock enters, lease or not
	ReportsPending                         // 4: a grant without a lease is reported as held
	FromReceipt                            // 8: the lease counts from when the confirmation came
	NoDrift                                // 7: clocks are taken to be equally fast
	LeaverEnters                           // 11: who leaves does not promise anything
	CountStays                             // 4: the count of entries does not travel
	HandoverSame                           // 4: a local handover takes no count of its own
	UnlockAny                              // 4: unlocking does not look at the token
	AskOnce                                // 7: who waits does not ask again in the next view
	CancelLeaks                            // 9: what is granted to nobody is kept
	TriesStay                              // 9: a try that is refused stays in the queue
	NoBound                                // 4: local waiters go first for ever
	PassAtOnce                             // 8: what a lease loses is passed on when that is told, not when the lease is over
	NotNested                              // 10: a client's session does not end before the member's lease
)

// Misread makes a member misread some rules. It is for negative controls alone:
// nothing that a user can set leads here, and a test sees to it.
func Misread(m *Member, x Misreading) { m.wrong = x }

func (m *Member) misreads(x Misreading) bool { return m.wrong&x != 0 }
