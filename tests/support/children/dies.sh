# Ends itself by signal $1.
kill -s "$1" $$
