package gateway

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	protocol "github.com/stile-lock/stile/internal/session"
)

// ReasonHeader is the header, or in streams and gRPC the trailer, with the reason of an
// error, which programs can compare.
const ReasonHeader = "Stile-Reason"

// A problem is an error of the API.
type problem struct {
	code   connect.Code
	reason string
}

// The problems. docs/http.md lists them, which a test compares.
var (
	badRequest   = problem{connect.CodeInvalidArgument, "bad-request"}
	noIdentity   = problem{connect.CodeUnauthenticated, "no-identity"}
	otherSite    = problem{connect.CodePermissionDenied, "other-site"}
	isDenied     = problem{connect.CodePermissionDenied, "denied"}
	noSession    = problem{connect.CodeNotFound, "no-session"}
	noRequest    = problem{connect.CodeNotFound, "no-request"}
	noTx         = problem{connect.CodeNotFound, "no-transaction"}
	isLost       = problem{connect.CodeFailedPrecondition, "lost"}
	isReleased   = problem{connect.CodeFailedPrecondition, "released"}
	isDeclined   = problem{connect.CodeFailedPrecondition, "declined"}
	mustAbort    = problem{connect.CodeAborted, "deadlock"}
	tooLate      = problem{connect.CodeDeadlineExceeded, "late"}
	manySessions = problem{connect.CodeResourceExhausted, "too-many-sessions"}
	manyCalls    = problem{connect.CodeResourceExhausted, "too-many-calls"}
	manyRequests = problem{connect.CodeResourceExhausted, "too-many-requests"}
	manyLocks    = problem{connect.CodeResourceExhausted, "too-many-locks"}
	overQuota    = problem{connect.CodeResourceExhausted, "over-quota"}
	isRecovering = problem{connect.CodeUnavailable, "recovering"}
	noNode       = problem{connect.CodeUnavailable, "no-node"}
	isOver       = problem{connect.CodeCanceled, "canceled"}
)

// errStopping ends calls when the gateway is closed.
var errStopping = errors.New("the node is stopping")

// error makes an error that a client sees.
func (p problem) error(err error) *connect.Error {
	e := connect.NewError(p.code, err)
	e.Meta().Set(ReasonHeader, p.reason)
	return e
}

func (p problem) errorf(format string, args ...any) *connect.Error {
	return p.error(fmt.Errorf(format, args...))
}

// whys maps the reasons of a node to problems.
var whys = map[protocol.Why]problem{
	protocol.BadName:     badRequest,
	protocol.ManyNames:   manyLocks,
	protocol.ManyWaiters: manyRequests,
	protocol.Full:        manySessions,
	protocol.BadMode:     badRequest,
	protocol.Ordinary:    isDeclined,
	protocol.OtherUnits:  isDeclined,
	protocol.OtherKind:   isDeclined,
	protocol.OtherMethod: isDeclined,
	protocol.OutOfOrder:  isDeclined,
	protocol.Waiting:     isDeclined,
	protocol.Reentrant:   isDeclined,
	protocol.Ended:       isDeclined,
}

// problemOf returns what problem an error of the node is.
func problemOf(err error) problem {
	var refused *client.Refused
	var unheld client.NotHeld
	var declined client.Declined
	switch {
	case errors.Is(err, member.ErrName), errors.Is(err, member.ErrMode):
		return badRequest
	case errors.Is(err, lock.ErrDeadlock):
		return mustAbort
	case errors.Is(err, lock.ErrTxEnded):
		return isReleased
	case errors.Is(err, lock.ErrReentrant):
		return isDeclined
	case errors.Is(err, lock.ErrDenied):
		return isDenied
	case errors.Is(err, lock.ErrQuota):
		return overQuota
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrReleased):
		return isLost
	case errors.Is(err, lock.ErrRecovering):
		return isRecovering
	case errors.Is(err, protocol.ErrRequests):
		return manyRequests
	case errors.As(err, &declined):
		return isDeclined
	case errors.As(err, &unheld):
		if p, ok := whys[protocol.Why(unheld)]; ok {
			return p
		}
	case errors.As(err, &refused):
		if p, ok := whys[refused.Why]; ok {
			return p
		}
	case errors.Is(err, client.ErrClosed), errors.Is(err, node.ErrEnded):
	case errors.Is(err, context.DeadlineExceeded):
		return tooLate
	case errors.Is(err, context.Canceled):
		return isOver
	}
	return noNode
}

// answer returns an error as a client sees it.
func answer(err error) error {
	var made *connect.Error
	if err == nil || errors.As(err, &made) {
		return err
	}
	e := problemOf(err).error(err)
	var d *lock.Deadlock
	if errors.As(err, &d) {
		if detail, err := connect.NewErrorDetail(describeDeadlock(d)); err == nil {
			e.AddDetail(detail)
		}
	}
	return e
}
