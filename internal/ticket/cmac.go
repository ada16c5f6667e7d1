package ticket

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
)

// codeBytes is the length of a code: a block of AES.
const codeBytes = aes.BlockSize

// A cmac computes codes under one key, as RFC 4493 describes.
type cmac struct {
	block        cipher.Block
	whole, short [codeBytes]byte // added to the last block: if it is whole, and if it is not
	code         [codeBytes]byte
}

func newCMAC(secret [32]byte) cmac {
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		panic(err) // only for a key of another length
	}
	m := cmac{block: block}
	block.Encrypt(m.whole[:], m.whole[:])
	double(&m.whole)
	m.short = m.whole
	double(&m.short)
	return m
}

// double multiplies by two in the field of 2^128 elements.
func double(b *[codeBytes]byte) {
	carry := b[0] >> 7
	for i := range codeBytes - 1 {
		b[i] = b[i]<<1 | b[i+1]>>7
	}
	b[codeBytes-1] = b[codeBytes-1]<<1 ^ carry*0x87
}

// sum returns the code of some bytes, which is valid until the next call.
func (m *cmac) sum(b []byte) []byte {
	m.code = [codeBytes]byte{}
	code := m.code[:]
	for ; len(b) > codeBytes; b = b[codeBytes:] {
		subtle.XORBytes(code, code, b[:codeBytes])
		m.block.Encrypt(code, code)
	}
	last := &m.whole
	if len(b) < codeBytes {
		last = &m.short
		code[len(b)] ^= 0x80
	}
	subtle.XORBytes(code, code, b)
	subtle.XORBytes(code, code, last[:])
	m.block.Encrypt(code, code)
	return code
}
