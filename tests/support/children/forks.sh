# Has a tree: a child, a grandchild, and one of each that ignores the polite request.
sleep 600 &
echo "pid $!"
sh -c 'sleep 600 & echo "pid $!"; wait' &
echo "pid $!"
(trap '' TERM; exec sleep 600) &
echo "pid $!"
echo "pid $$"
wait
