# Writes more than is read at once, and exits.
head -c 600000 /dev/zero | tr '\0' x
echo
echo last
