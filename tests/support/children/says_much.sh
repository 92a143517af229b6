# Writes more than one read takes, and exits.
head -c 600000 /dev/zero | tr '\0' x
echo
echo last
