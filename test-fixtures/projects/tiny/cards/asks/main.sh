echo "It ran after a person said yes." > "$SALLYPORT_OUTPUTS/answer"
