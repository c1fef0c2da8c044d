. "$(dirname "$0")/attack.sh"
echo "$given" | head -c 200
