# Closes its input, and works on.
exec 0<&-
sleep 0.2
echo alive
