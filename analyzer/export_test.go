package analyzer

// SampleRuns are what the tests of this package run samples with.
var SampleRuns SampleRun
