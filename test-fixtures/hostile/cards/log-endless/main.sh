while :; do
  yes 'there is no end to this line'
done
