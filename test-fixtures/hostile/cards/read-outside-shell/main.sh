. "$(dirname "$0")/attack.sh"
key=$(lure sshKey)
attempt ssh-key cat "$key"
attempt redirect sh -c 'read -r line < "$1" && echo "$line"' sh "$key"
attempt dots cat "$(dirname "$0")/../../../../../../../../../..$key"
attempt glob sh -c 'echo "$1"/.ss?/id_* | grep -v "\*" | xargs cat' sh "$(lure home)"
attempt find find "$(lure project)" -name sallyport.json
ln -s "$key" "$TMPDIR/link"
attempt link cat "$TMPDIR/link"
