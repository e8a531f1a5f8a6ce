// Package schema is JSON Schema as plans need it: checking a schema and
// validating values against it, following a path into a schema, making up
// values that it accepts, and telling whether every value of one schema fits
// another.
//
// There is one vocabulary, that of draft 2020-12, in which keywords that older
// drafts alone have keep their meaning: definitions, dependencies, a list of items
// with additionalItems, a boolean exclusiveMinimum. Where $schema names draft 4, 6 or
// 7, nothing beside a $ref counts, and format is asserted. What the standards leave
// open is decided so:
//
//   - format is an annotation in later drafts; Options.AssertFormat asserts it everywhere.
//   - patterns are ECMA-262's, in Unicode mode (package regex). What look-around
//     and back-references say is matched in a bounded number of steps, and isn't
//     reasoned about.
//   - a $ref reaches places inside its own schema ("#/$defs/x", "#anchor", a
//     $id that the schema itself declares) and the document's named schemas
//     ("#/schemas/Name", and on into them). Nothing else is ever read, no file and
//     no URL. Inside a named schema "#" is that schema.
//   - a $dynamicRef is a $ref; where it could be something else it is refused.
//   - numbers mean what is written: 0.3 is a multiple of 0.1, and 1.0 is an
//     integer.
//
// The validator here has to be quick and bounded, because the machine asks it
// about every call. [Schema.Ordinary] compiles the same schema with
// github.com/santhosh-tekuri/jsonschema/v5; tests hold the two against each
// other, and evidence that people will read is confirmed by it.
package schema

import (
	"sync"

	ordinary "github.com/santhosh-tekuri/jsonschema/v5"
)

// Options say how a schema is to be read.
type Options struct {
	// Defs are the document's named schemas (its schemas:), reached by
	// "#/schemas/Name". They must not be changed afterwards.
	Defs map[string]any
	// AssertFormat makes format an assertion in every draft.
	AssertFormat bool
	// Keywords, unless it is nil, is how many keywords the schemas that share it
	// may still have together, their references expanded. Each takes off its own
	// when it is compiled; these then must not be compiled at once.
	Keywords *int
}

// A Schema is one JSON Schema, or a place in one, or a combination of such
// places. It is immutable and safe for concurrent use. A nil *Schema accepts
// everything.
type Schema struct {
	raw     any
	options Options

	build sync.Once
	node  *node
	err   *SchemaError

	compile  sync.Once
	compiled *ordinary.Schema
	broken   error

	secretsOnce sync.Once
	hasSecrets  bool
}

// New makes a schema of a decoded JSON value: a boolean or a map[string]any,
// with float64 (or any Go number) for numbers. It costs next to nothing and
// never fails: [Schema.Compile] tells what is wrong. The value must not be
// changed afterwards.
func New(raw any, o Options) *Schema { return &Schema{raw: raw, options: o} }

// of makes a schema of a node that is already sound.
func of(n *node) *Schema {
	if n == nil || n.verdict == always {
		return nil
	}
	return &Schema{node: n}
}

// Compile reads the schema, once. The error, if any, is a *[SchemaError]. A
// schema with an error accepts everything and says nothing about any path.
func (s *Schema) Compile() error {
	if s == nil {
		return nil
	}
	s.ready()
	if s.err != nil {
		return s.err
	}
	return nil
}

// ready is the node of the schema; of one that is broken, the node that
// accepts everything.
func (s *Schema) ready() *node {
	if s == nil {
		return everything
	}
	s.build.Do(func() {
		if s.node == nil {
			s.node, s.err = read(s.raw, s.options)
		}
		if s.err != nil {
			s.node = everything
		}
	})
	return s.node
}

// Raw is the schema as a JSON value. References in it are relative to the
// schema that it was taken from.
func (s *Schema) Raw() any {
	if s == nil {
		return true
	}
	if s.raw != nil {
		return s.raw
	}
	return s.ready().json()
}

// AnyOf is the schema of what any of several schemas accepts: the join over
// several writers of one path. Without schemas it accepts nothing; a nil among
// them makes it accept everything.
func AnyOf(schemas ...*Schema) *Schema { return of(union(nodesOf(schemas))) }

// AllOf is the schema of what all of several schemas accept.
func AllOf(schemas ...*Schema) *Schema { return of(both(nodesOf(schemas))) }

func nodesOf(schemas []*Schema) []*node {
	nodes := make([]*node, len(schemas))
	for i, s := range schemas {
		nodes[i] = s.ready()
	}
	return nodes
}

// Const is the schema of one value.
func Const(v any) *Schema { return of(&node{unit: detached, kinds: KindOf(v), values: []any{v}}) }

// A SchemaError says what makes a schema invalid.
type SchemaError struct {
	// Path leads to the place: the keys and indexes of a JSON pointer into the
	// schema's raw value, or into Defs[Def] when Def isn't "".
	Path    []string
	Def     string
	Message string // lower case, no full stop
	Help    string // what to do; may be ""
	Limit   bool   // all of it is larger than a schema may be
}

func (e *SchemaError) Error() string { return e.Message }
