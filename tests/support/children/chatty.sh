# Gives a sign of life every 50 ms, $1 times.
echo "pid $$"
i=0
while [ "$i" -lt "$1" ]; do echo alive; sleep 0.05; i=$((i + 1)); done
