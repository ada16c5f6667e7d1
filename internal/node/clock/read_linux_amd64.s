#include "textflag.h"

// func read(f uintptr, clock int64, ts *[2]int64)
//
// The frame is room for what is called, which is C: it keeps BX, R14 and the rest
// that Go wants kept, and needs an aligned stack.
TEXT ·read(SB), 0, $1024-24
	MOVQ f+0(FP), AX
	MOVQ clock+8(FP), DI
	MOVQ ts+16(FP), SI
	MOVQ SP, BX
	ANDQ $~15, SP
	CALL AX
	MOVQ BX, SP
	RET
