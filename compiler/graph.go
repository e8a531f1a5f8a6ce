package compiler

// A Graph says which call depends on which (S6.1), as compressed adjacency.
type Graph struct{}
