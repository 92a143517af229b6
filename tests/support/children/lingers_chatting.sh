# Completes its work, and does not exit but keeps writing.
echo "pid $$"
echo settled
exec yes alive
