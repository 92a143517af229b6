# Writes as fast as it can. Its output contains no sign of life.
echo "pid $$"
exec yes noise
