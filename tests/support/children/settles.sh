# Completes its work and exits.
echo settled
exit 0
