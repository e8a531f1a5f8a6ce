#!/bin/sh
# A till that no card can be refunded at: a call's parameters come as JSON on
# standard input, its result goes as JSON to standard output.
read -r params
case "$params" in
*'"by":"card"'*)
	echo "the card was declined" >&2
	exit 1
	;;
esac
amount=$(printf '%s' "$params" | sed 's/.*"amount":\([0-9.]*\).*/\1/')
printf '{"number": "R-77", "by": "voucher", "amount": %s}\n' "$amount"
