# Stops itself; continued, it takes leave when asked to.
trap 'echo goodbye; exit 0' TERM
echo "pid $$"
kill -s STOP $$
while :; do sleep 0.05; done
