# {"ending": "yaml"} -> ["a.yaml", "b.yaml"]
set -eu
ending=$(sed -n 's/.*"ending" *: *"\([a-z]*\)".*/\1/p')
if [ -z "$ending" ]; then
	echo 'list: expected {"ending": "letters"}' >&2
	exit 2
fi

names=
for file in *."$ending"; do
	case $file in *[!A-Za-z0-9._-]*) continue ;; esac # would need escaping in JSON, or is the pattern itself
	names="$names, \"$file\""
done
if [ -z "$names" ]; then
	echo "list: no file here ends in .$ending" >&2
	exit 1
fi
printf '[%s]\n' "${names#, }"
