package expression

// An Expr is one parsed expression.
type Expr struct{ Text string }
