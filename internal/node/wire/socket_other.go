//go:build !unix

package wire

import "net"

// tryWrite is for systems whose sockets can be written only by waiting.
func tryWrite(net.Conn) func(b []byte) (int, error) { return nil }
