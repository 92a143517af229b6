# Exits on request, after a last message.
trap 'echo goodbye; exit 0' TERM
echo "pid $$"
while :; do sleep 0.05; done
