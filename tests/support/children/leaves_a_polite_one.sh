# Exits once the process that it leaves behind has started. That process exits on request, after a last message.
trap 'exit 0' USR1
sh -c 'trap "echo goodbye; exit 0" TERM; echo "pid $$"; kill -USR1 "$PPID"; sleep 600 & wait' &
while :; do sleep 0.05; done
