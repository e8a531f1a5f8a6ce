package main

// removedFlags has the flags that commands no longer have: "command --flag" and what to use instead.
// Each gives one error; none is registered, so that help and completion don't list them.
var removedFlags = map[string]string{}
