package gateway

import "sync"

// A releasedKey identifies a request that was released: its key, and if that is the lock's
// name, which can be used again, the fencing token, too. The token is empty if it was not
// given.
type releasedKey struct {
	requestKey
	token string
}

// An outcome is that of a release.
type outcome struct {
	token string       // empty if the request was withdrawn
	end   func() error // releases the lock, once, and returns whether it was held until then
}

// release releases a lock, or withdraws a request. A repeated call has the same outcome.
//
// A call may be delayed on its way until the session holds the lock again, or waits for it.
// So a hold that was reported is released only by its token, or by a key that is not the
// lock's name, because such a key is not used again.
func (s *session) release(key requestKey, token string) (*outcome, error) {
	o, err := s.releasing(key, token)
	if err != nil {
		return nil, err
	}
	return o, o.end()
}

// releasing begins a release: from now on no call reports that the lock is held, and another
// request can have the key.
func (s *session) releasing(key requestKey, token string) (*outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests[key]
	switch {
	case r == nil, token != "" && (r.hold == nil || r.hold.Token().String() != token):
		return s.released(key, token)
	case r.hold == nil:
		o := &outcome{end: func() error {
			<-r.done // soon: its transaction may request another lock then
			return nil
		}}
		s.outcomes.add(releasedKey{key, ""}, o)
		s.drop(r)
		return o, nil
	case r.of != nil:
		return nil, isDeclined.errorf("lock %q belongs to a transaction, whose locks are released together: commit or abort it", r.name)
	case r.told && token == "" && key.key == r.name:
		return nil, badRequest.errorf("token is empty: want that of the hold to release, as Acquire returned it; Acquire returns it again")
	}
	if key.key != r.name {
		token = "" // the key is enough
	}
	o := &outcome{r.hold.Token().String(), sync.OnceValue(r.hold.Unlock)}
	s.outcomes.add(releasedKey{key, token}, o)
	delete(s.requests, key)
	r.idle.Stop()
	return o, nil
}

// released returns the outcome of an earlier release. The mutex must be held.
func (s *session) released(key requestKey, token string) (*outcome, error) {
	if o, ok := s.outcomes.find(releasedKey{key, token}); ok {
		return o, nil
	}
	if o, ok := s.outcomes.find(releasedKey{key, ""}); ok && o.token == token {
		return o, nil
	}
	if token != "" {
		return nil, noRequest.errorf("this session does not hold a lock with key %q%s and token %q: another session does, or it was released long ago", key.key, key.where(), token)
	}
	return nil, noRequest.errorf("no request with key %q in this session%s: it was never made, was withdrawn because no call waited for it, or was released long ago", key.key, key.where())
}

// errReleased is the error of a call that waited for a request which another call released.
func errReleased(r *request) error {
	return isOver.errorf("lock %q: the request was released meanwhile", r.name)
}
