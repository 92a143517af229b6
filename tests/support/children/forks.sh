# Starts a tree: a child, a child with a grandchild, and a child that ignores the request to exit.
sleep 600 &
echo "pid $!"
sh -c 'sleep 600 & echo "pid $!"; wait' &
echo "pid $!"
(trap '' TERM; exec sleep 600) &
echo "pid $!"
echo "pid $$"
wait
