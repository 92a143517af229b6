# Writes $1 MiB between two lines to its standard error, then succeeds.
echo first >&2
dd if=/dev/zero bs=1048576 count="$1" >&2 2>/dev/null
echo last >&2
echo alive
