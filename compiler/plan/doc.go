// Package plan is a compiled plan as data: its tools, activities, calls with every reference bound to the calls whose
// writes it reads, instances and policies. Package compiler makes it, and decides what follows from it; everything that
// comes later (the analysis, drawings, simulations, runs) reads it. Nobody changes a plan once it is made.
package plan
