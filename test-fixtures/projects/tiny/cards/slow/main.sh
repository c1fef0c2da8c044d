echo started
sleep 60
echo done > "$SALLYPORT_OUTPUTS/done"
