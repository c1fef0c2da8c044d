. "$(dirname "$0")/attack.sh"
for folder in "$SALLYPORT_OUTPUTS/tree" "$SALLYPORT_OUTPUTS" "$SALLYPORT_OUTPUTS/tree/../.." "$(lure project)"; do
  mkdir -p "$folder/.git/hooks" "$folder/.vscode" 2>/dev/null
  echo 'touch pwned' > "$folder/.git/hooks/pre-commit"
  echo '{}' > "$folder/.vscode/tasks.json"
done 2>/dev/null
echo done
