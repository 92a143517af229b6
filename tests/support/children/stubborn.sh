# Hears the polite request, says so, and stays.
trap 'echo asked' TERM
echo "pid $$"
while :; do sleep 0.05; done
