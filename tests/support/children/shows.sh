# Says where it is and what it was given.
pwd
env
printf '%s\n' "$@"
