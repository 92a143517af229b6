#!/bin/sh
# Starts a command as another machine would: in another directory, with another environment, late, and after a banner without a
# last line end. `sh` as the first argument joins the words and leaves them to a shell, as `ssh` does; `words` takes them as `srun`
# does. The second argument is a directory, which gets `launches`: one line for each start, with the words.
how=$1 far=$2
shift 2
mkdir -p "$far/home" && cd "$far" || exit 1
mkdir -p tmp 2>/dev/null
printf '%s\n' "$*" >>launches
env >env
printf 'Welcome to far away.\nLast login: never'
sleep 0.05
case $how in
	sh) exec env -i PATH="$PATH" HOME="$far/home" FAR="$far" TMPDIR="$far/tmp" /bin/sh -c "$*" ;;
	words) exec env -i PATH="$PATH" HOME="$far/home" FAR="$far" TMPDIR="$far/tmp" "$@" ;;
esac
