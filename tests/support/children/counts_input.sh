# Says how much input it got, having written as much first.
dd if=/dev/zero bs=1048576 count=4 2>/dev/null | tr '\0' '\n'
wc -c
