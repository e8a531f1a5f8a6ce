# {"file": "a.txt"} -> "the first line of it"
set -eu
file=$(sed -n 's/.*"file" *: *"\([A-Za-z0-9._-]*\)".*/\1/p')
if [ ! -f "$file" ]; then
	echo "first: no such file in this folder: $file" >&2
	exit 2
fi
printf '"%s"\n' "$(sed 's/["\\]/\\&/g; q' "$file")"
