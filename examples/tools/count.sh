# {"files": ["a", "b"]} -> [{"file": "a", "lines": 1, "words": 2}, …]
set -eu
names=$(sed 's/.*\[//; s/\].*//' | tr -d '" ' | tr ',' '\n')

separator=
printf '['
for file in $names; do
	case $file in /* | *..* | *[!A-Za-z0-9._-]*)
		echo "count: not the name of a file in this folder: $file" >&2
		exit 2
		;;
	esac
	lines=$(wc -l <"$file")
	words=$(wc -w <"$file")
	printf '%s{"file": "%s", "lines": %d, "words": %d}' "$separator" "$file" "$lines" "$words"
	separator=', '
done
printf ']\n'
