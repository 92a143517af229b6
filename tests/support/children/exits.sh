# Exits with code $1.
exit "$1"
