# Exits at once with code $1. The process that it leaves behind holds its pipes.
sleep 600 &
echo "pid $!"
(trap '' TERM; exec sleep 600) &
echo "pid $!"
exit "$1"
