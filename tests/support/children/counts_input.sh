# Reports the size of its input, after it has written as much itself.
dd if=/dev/zero bs=1048576 count=4 2>/dev/null | tr '\0' '\n'
wc -c
