# {} -> {"processors": 4, "perProcessor": 0.3}
set -eu
processors=$(nproc)
read -r load _ </proc/loadavg
hundredths=$(printf '%s' "$load" | tr -d . | sed 's/^0*//')
hundredths=$((${hundredths:-0} / processors))
printf '{"processors": %d, "perProcessor": %d.%02d}\n' "$processors" $((hundredths / 100)) $((hundredths % 100))
