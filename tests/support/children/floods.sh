# Writes as fast as it can, nothing of which is a sign of life.
echo "pid $$"
exec yes noise
