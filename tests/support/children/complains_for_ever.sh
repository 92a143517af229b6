# Floods its standard error.
echo "pid $$"
exec yes noise >&2
