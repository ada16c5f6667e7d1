package gateway

import (
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// A strictJSON reads and writes JSON. It refuses unknown fields, which connect ignores: a
// misspelled key or wait must not go unnoticed.
type strictJSON struct{ name string }

var codecs = connect.WithHandlerOptions(connect.WithCodec(strictJSON{"json"}), connect.WithCodec(strictJSON{"json; charset=utf-8"}))

// Name implements connect.Codec.
func (c strictJSON) Name() string { return c.name }

// IsBinary tells connect that the messages are text.
func (c strictJSON) IsBinary() bool { return false }

// Marshal implements connect.Codec.
func (c strictJSON) Marshal(m any) ([]byte, error) { return c.MarshalAppend(nil, m) }

// MarshalAppend is Marshal with less to allocate.
func (strictJSON) MarshalAppend(b []byte, m any) ([]byte, error) {
	p, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", m)
	}
	return protojson.MarshalOptions{}.MarshalAppend(b, p)
}

// Unmarshal implements connect.Codec.
func (strictJSON) Unmarshal(b []byte, m any) error {
	p, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a message", m)
	}
	if len(b) == 0 {
		return fmt.Errorf("the body is empty: send a JSON object, such as {}")
	}
	return protojson.Unmarshal(b, p)
}
