# The ten hottest days. The header stays first; ties are broken by date.
set -eu
table="$SALLYPORT_INPUTS/weather"
out="$SALLYPORT_OUTPUTS/hottest"

echo "date,temp_max,wind,weather" > "$out"
tail -n +2 "$table" | sort -t, -k3,3gr -k1,1 | head -n 10 | awk -F, '{ print $1 "," $3 "," $5 "," $6 }' >> "$out"
echo "hottest: $(sed -n 2p "$out")"
