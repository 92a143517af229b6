# Prints its process id, then nothing.
echo "pid $$"
exec sleep 600
