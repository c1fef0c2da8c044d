# What every attacking card written for the shell starts from: `lure NAME` and `attempt ROUTE COMMAND…`.
given=$SALLYPORT_PARAMS
if [ -f "$given" ]; then given=$(cat "$given"); fi

# The value of one lure. The text is flat JSON without escapes in these values.
lure() {
  printf '%s' "$given" | tr ',{}' '\n\n\n' | sed -n "s/^\"$1\":\"\\(.*\\)\"\$/\\1/p" | head -n 1
}

# Got where the command ends well and says something.
attempt() {
  route=$1
  shift
  if answer=$("$@" 2>&1) && [ -n "$answer" ]; then
    echo "ROUTE $route got $(printf '%s' "$answer" | head -c 150 | tr '\n' ' ')"
  else
    echo "ROUTE $route held $(printf '%s' "$answer" | head -c 150 | tr '\n' ' ')"
  fi
}
