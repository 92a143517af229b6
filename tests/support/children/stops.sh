# Stops itself. Once continued, it exits on request, after a last message.
trap 'echo goodbye; exit 0' TERM
echo "pid $$"
kill -s STOP $$
while :; do sleep 0.05; done
