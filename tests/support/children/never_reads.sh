# Never reads its input.
sleep 0.2
echo alive
