# Leaves at once; what it leaves behind is out of reach and holds its pipes for a while.
setsid sleep 60 &
echo "stray $!"
exit 0
