# {"ending": "yaml"} -> ["a.yaml", "b.yaml"]
set -eu
ending=$(sed -n 's/.*"ending" *: *"\([a-z]*\)".*/\1/p')
if [ -z "$ending" ]; then
	echo 'list: expected {"ending": "letters"}' >&2
	exit 2
fi

# Names that would need escaping in JSON are left out.
separator=
printf '['
for file in *."$ending"; do
	case $file in *[!A-Za-z0-9._-]*) continue ;; esac
	printf '%s"%s"' "$separator" "$file"
	separator=', '
done
printf ']\n'
