package ticket

import (
	"encoding/hex"
	"testing"
)

// The codes are those of NIST SP 800-38B, example of AES-256.
func TestCMAC(t *testing.T) {
	const key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
	const text = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
	var secret [32]byte
	_, _ = hex.Decode(secret[:], []byte(key))
	m := newCMAC(secret)
	for n, want := range map[int]string{
		0: "028962f61b7bf89efc6b551f4667d983", 16: "28a7023f452e8f82bd4bf28d8c37c35c",
		40: "aaf3d8f1de5640c232f5b169b9c911e6", 64: "e1992190549f6ed5696a2c056c315410",
	} {
		b, _ := hex.DecodeString(text[:2*n])
		if got := hex.EncodeToString(m.sum(b)); got != want {
			t.Errorf("code of %d bytes: %s, want %s", n, got, want)
		}
	}
}
