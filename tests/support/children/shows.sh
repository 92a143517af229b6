# Prints its working directory, its arguments and its environment.
pwd
env
printf '%s\n' "$@"
