package session_test

// A workspace is the texts of a plan with all that it takes in, by their names.
type workspace map[string]string
