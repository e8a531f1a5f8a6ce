// Package pty is a person at a pseudo-terminal, for tests: it sees a screen, presses
// keys and waits for what comes. There is one on Linux only.
package pty
