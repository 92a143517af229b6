# Leaves at once; what it leaves behind floods its output and cannot be asked.
(trap '' TERM; exec yes noise) &
echo "pid $!"
exit 0
