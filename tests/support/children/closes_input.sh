# Closes its input, and continues to work.
exec 0<&-
sleep 0.2
echo alive
