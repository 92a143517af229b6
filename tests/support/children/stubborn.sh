# Reports the request to exit, and does not exit.
trap 'echo asked' TERM
echo "pid $$"
while :; do sleep 0.05; done
