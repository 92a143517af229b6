# Does its work, and stays.
echo "pid $$"
echo settled
exec sleep 600
