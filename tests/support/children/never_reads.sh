# Leaves its input alone.
sleep 0.2
echo alive
