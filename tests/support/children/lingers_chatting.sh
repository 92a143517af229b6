# Does its work, and stays, talking.
echo "pid $$"
echo settled
exec yes alive
