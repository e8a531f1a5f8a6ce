// Package schema is JSON Schema as plans need it: validating values, following
// a path into a schema, and making up values that a schema accepts.
package schema

// A Schema is one JSON Schema.
type Schema struct{ raw any }
