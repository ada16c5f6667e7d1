package process

import (
	"fmt"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// A Kind is the type of an input.
type Kind uint8

// The inputs.
const (
	Start   Kind = iota // the first input: found a cluster if the config says so, and join
	Leave               // accept nothing new, and leave the cluster when no lock is held
	Stop                // the same, but the process keeps its vote, and will return
	Wake                // the clock has reached Output.Wake
	Up                  // there is a connection to a node
	Down                // the connection to a node has broken
	Message             // a message from a node
	Frame               // a frame from a client
	Closed              // the connection of a client has ended
	Lock                // an application of this process requests a lock
	Cancel              // it withdraws a waiting request
	Unlock              // it releases a lock
	Release             // an operator takes a lock from its holder
	Saved               // a save is durable, or has failed
	Evict               // an operator evicts a member; like the next three, works only at the leader
	Choose              // an operator chooses other algorithms, from the next view on
	Refresh             // an operator begins a view of the same members, so that idle names are forgotten
	Resize              // an operator changes the number of voters
	Opened              // the client on a connection has an identity or a quota: before its first frame, and when the quota changes
	Move                // an operator asks the client of a session to use another node
	Trail               // an operator looks at a lock: it is followed until Late
	Recall              // clients' rights or quotas have changed: delegated locks are recalled
	Kinds               // number of kinds
)

var kindNames = [...]string{"start", "leave", "stop", "wake", "up", "down", "message", "frame", "closed", "lock", "cancel", "unlock", "release", "saved", "evict", "choose", "refresh", "resize", "opened", "move", "trail", "recall"}

// String returns the name of a kind.
func (k Kind) String() string {
	if k >= Kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// An Input is one thing that happens to a process. The fields in use depend on its
// kind.
type Input struct {
	Kind   Kind
	At     member.Instant // a reading of the process's clock
	Text   string         // Up, Down, Message: the node's address; Lock, Unlock, Release, Trail: the lock's name; Saved: why it failed, or empty; Opened: the identity
	Number uint64         // Frame, Closed, Opened: the connection; Cancel: the ticket; Unlock: the ticket, for observers; Saved: the save; Evict: the incarnation; Resize: number of voters; Move: the session
	Try    bool           // Lock: do not wait
	Late   member.Instant // Lock: the request's deadline, 0 or member.Never if there is none; Trail: when it ends
	Terms  member.Terms   // Lock
	Token  member.Token   // Unlock, Release
	Bytes  []byte         // Message, Frame
	Choice []member.Choice
	Quota  session.Quota // Opened
}
