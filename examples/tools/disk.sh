# {"path": "/"} -> {"path": "/", "usedPercent": 42, "freeMegabytes": 51200}
set -eu
path=$(sed -n 's/.*"path" *: *"\([A-Za-z0-9._/-]*\)".*/\1/p')
if [ ! -e "$path" ]; then
	echo "disk: no such path: $path" >&2
	exit 2
fi
set -- $(df -P -m "$path" | tail -n 1) # name, size, used, free, percent, mounted on
free=$4
percent=${5%\%}
printf '{"path": "%s", "usedPercent": %d, "freeMegabytes": %d}\n' "$path" "$percent" "$free"
