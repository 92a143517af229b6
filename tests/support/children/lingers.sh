# Completes its work, and does not exit.
echo "pid $$"
echo settled
exec sleep 600
