package gateway

import (
	"context"
	"strconv"
	"sync"

	"github.com/stile-lock/stile/internal/lock"
)

// A transaction is one attempt of a transaction of a session. Another attempt has another id,
// so that a call of an earlier one that was delayed on its way changes nothing.
type transaction struct {
	id string
	tx *lock.Tx // that of all attempts

	mu   sync.Mutex // held while it ends
	how  ending
	err  error  // of the commit
	next string // the next attempt, if it was retried
}

// An ending is how a transaction ended.
type ending uint8

const (
	goesOn ending = iota
	committed
	aborted
	retried
)

// live returns a transaction that has not ended; nil for the empty id, which is that of none.
// The session's mutex must be held.
func (s *session) live(id string) (*transaction, error) {
	if id == "" {
		return nil, nil
	}
	if t := s.txs[id]; t != nil {
		return t, nil
	}
	if _, known := s.ended.find(id); known {
		return nil, isReleased.errorf("transaction %q has ended: use the one that retry returned, or begin another one", id)
	}
	return nil, noTx.errorf("no transaction %q in this session: it was never begun, or ended long ago: begin one", id)
}

// begin begins a transaction. An attempt that is not the first has the lock.Tx of the others.
func (s *session) begin(tx *lock.Tx) (*transaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return nil, noSession.errorf("the session was closed")
	case len(s.txs) >= maxRequests:
		return nil, manyRequests.errorf("the session has %d transactions, the maximum: commit or abort some", maxRequests)
	}
	if tx == nil {
		tx = lock.Begin(context.Background(), s.client.Lock, s.client.Attempt)
	}
	s.begun++
	t := &transaction{id: strconv.Itoa(s.begun), tx: tx}
	s.txs[t.id] = t
	return t, nil
}

// transaction returns a transaction, whether it has ended or not, and locks it. The caller
// unlocks it.
func (s *session) transaction(id string) (*transaction, error) {
	s.mu.Lock()
	t, err := s.live(id)
	if id == "" {
		err = noTx.errorf("no transaction is given: begin one, and give its id")
	}
	if ended, ok := s.ended.find(id); ok {
		t, err = ended, nil
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	return t, nil
}

// retire notes that a transaction has ended, or is about to. No request of it begins any more,
// and those that wait are withdrawn.
func (s *session) retire(t *transaction, how ending) {
	t.how = how
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.txs, t.id)
	s.ended.add(t.id, t)
	for _, r := range s.requests {
		if r.of == t {
			s.drop(r)
		}
	}
}

// commit ends a transaction. A repeated call has the same outcome.
func (s *session) commit(id string) error {
	t, err := s.transaction(id)
	if err != nil {
		return err
	}
	defer t.mu.Unlock()
	switch t.how {
	case goesOn:
		s.retire(t, committed)
		t.err = t.tx.Commit()
	case committed:
	default:
		return isReleased.errorf("transaction %q was aborted before: nothing can be committed", id)
	}
	return t.err
}

// abort ends a transaction, unless it has ended before.
func (s *session) abort(id string) error {
	t, err := s.transaction(id)
	if err != nil {
		return err
	}
	defer t.mu.Unlock()
	if t.how != goesOn {
		return nil
	}
	s.retire(t, aborted)
	return t.tx.Abort()
}

// retry ends a transaction and begins its next attempt. A repeated call returns the same one.
func (s *session) retry(id string) (next string, err error) {
	t, err := s.transaction(id)
	if err != nil {
		return "", err
	}
	defer t.mu.Unlock()
	switch {
	case t.how == retried:
		return t.next, nil
	case t.how == committed && t.err == nil:
		return "", isReleased.errorf("transaction %q was committed: begin another one", id)
	case t.how == goesOn:
		s.retire(t, aborted)
	}
	if err := t.tx.Retry(context.Background()); err != nil { // a short pause, which the call waits for
		return "", err
	}
	n, err := s.begin(t.tx)
	if err != nil {
		return "", err
	}
	t.how, t.next = retried, n.id
	return n.id, nil
}
