#!/bin/sh
# A search that takes a while: parameters as JSON on standard input, the result as
# JSON on standard output.
read -r params
where=$(printf '%s' "$params" | sed 's/.*"in":"\([a-z]*\)".*/\1/')
sleep 1
printf '"%s say that they grow from within"\n' "$where"
