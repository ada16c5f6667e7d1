package console

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// A document is the JSON object that a stream shows: texts, numbers, booleans, lists and
// objects, and no null. What there is not is left out, so that a merge patch, in which null
// removes a member, can describe every change.
type document map[string]any

// documentOf returns a value as a document.
func documentOf(v any) (document, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var d document
	r := json.NewDecoder(bytes.NewReader(b))
	r.UseNumber() // numbers stay as they were written
	if err := r.Decode(&d); err != nil {
		return nil, err
	}
	withoutNull(map[string]any(d))
	return d, nil
}

// withoutNull removes members that are null.
func withoutNull(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if x == nil {
				delete(v, k)
			}
			withoutNull(x)
		}
	case []any:
		for _, x := range v {
			withoutNull(x)
		}
	}
}

// diff returns the merge patch of RFC 7386 that makes one object another. It is empty if they
// are equal.
func diff(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for k := range from {
		if _, stays := to[k]; !stays {
			patch[k] = nil
		}
	}
	for k, new := range to {
		old, was := from[k]
		a, before := old.(map[string]any)
		b, after := new.(map[string]any)
		switch {
		case before && after:
			if p := diff(a, b); len(p) > 0 {
				patch[k] = p
			}
		case !was || !reflect.DeepEqual(old, new):
			patch[k] = new
		}
	}
	return patch
}
