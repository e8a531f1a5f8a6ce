// Package approval signs what people approve, and decides whose signature counts.
//
// An approval is an in-toto statement in a DSSE envelope. Its subjects are the plan and
// all else that decides what runs, by their digests; its predicate names who made it, when,
// until when it counts, and what was shown. A signature is an SSH signature (SSHSIG) over
// the envelope's pre-authentication encoding, which ssh-keygen makes and verifies as well.
// An allowed_signers file lists whose signatures count. It means here what it means to
// ssh-keygen, except that SSH certificates don't count.
//
// The package has no clock: each function that needs the time is given it.
package approval

import "errors"

// The kinds of trouble with approvals, for [errors.Is].
var (
	ErrMalformed  = errors.New("the file isn't an approval that this program can read")
	ErrTooLarge   = errors.New("the file is too large")
	ErrStatement  = errors.New("the statement is of another kind")
	ErrNotYet     = errors.New("it isn't valid yet")
	ErrExpired    = errors.New("it has expired")
	ErrUnsigned   = errors.New("the approval has no signature")
	ErrTooFew     = errors.New("too few people approve")
	ErrChanged    = errors.New("what would run isn't what was approved")
	ErrPrincipal  = errors.New("the approval is in another person's name")
	ErrNamespace  = errors.New("the signature was made for something else")
	ErrSignature  = errors.New("the signature isn't over this statement")
	ErrUnknownKey = errors.New("the key isn't one of a signer")
	ErrRevoked    = errors.New("the key is revoked")
	ErrTwice      = errors.New("the signature is a person's second one")
	ErrSigners    = errors.New("the list of signers or of revoked keys can't be used")
	ErrPlace      = errors.New("the file lies where the plan's author could have written it")
	ErrNoFile     = errors.New("a file can't be read")
)
