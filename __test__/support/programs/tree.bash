# A process tree that is hard to end. `bash tree.bash <folder> [kind…]` starts one process of each kind (by default all
# kinds; `chain` is 20 processes). Each ignores SIGTERM, SIGHUP and SIGINT and holds its standard output. The first
# process stays as their parent. `<folder>/victims` lists them in order of arrival: kind, process id, start time in ticks,
# which distinguishes a process from a later one with the same id. `<folder>/up` appears once all run. Everything ends by
# itself after at most two minutes, and there are at most 40 processes. A file `<folder>/over` ends the forker, which is
# hard to catch with slow scans.
#
#   root     the parent of the others; its own parent, `pi`, is listed too
#   plain    an ordinary child
#   group    leads its own process group
#   session  leads its own session
#   orphan   the same, and its parent has exited
#   bare     the same, and its environment is empty
#   stopped  is stopped by SIGSTOP
#   named    has a name that breaks parsers
#   chain    a child that has a child that has a child …
#   forker   leads a session, and is another process every other millisecond: forks and exits

folder=$1
shift
victims=$folder/victims

readonly lifetime=120 chain_length=20
# A shell that forks itself nests a call deeper each time. It starts again before the depth matters.
readonly fresh_every=100

# Lists a process, by default this one. Only builtins: a victim is one process.
list() { # kind [pid]
	local pid=${2:-$BASHPID} stat
	IFS= read -r -d '' stat < "/proc/$pid/stat"
	# The name may hold any character. The text after the last parenthesis begins with field 3.
	local -a fields=(${stat##*) })
	echo "$1 $pid ${fields[19]}" >> "$victims"
}

# Waits until the end of its life, without another process.
rest() {
	read -r -t "$lifetime" -u 9
	exit 0
}

pause() {
	read -r -t 0.001 -u 9
}

victim() { # kind
	list "$1"
	rest
}

chain() { # length
	list chain
	if (($1 > 1)); then chain $(($1 - 1)) & fi
	rest
}

forker() {
	list forker
	pause
	((EPOCHSECONDS < end)) && [[ ! -e $folder/over ]] || exit 0
	((++forks % fresh_every)) || exec bash "$0" "$folder" as forker "$end"
	forker &
	exit 0
}

# Becomes this program again, as one victim. The words before it decide how.
readonly itself=("$(type -P bash)" "$0" "$folder" as)

start() { # kind
	case $1 in
	plain) victim plain & ;;
	group)
		set -m
		victim group &
		set +m
		;;
	session) (exec setsid "${itself[@]}" session) & ;;
	orphan) (setsid "${itself[@]}" orphan &) ;;
	bare) ((exec -c "$(type -P setsid)" "${itself[@]}" bare) &) ;;
	stopped) (
		list stopped
		kill -s STOP "$BASHPID"
		rest
	) & ;;
	named)
		# The kernel takes the name of a program from its file.
		local disguise=$folder/$'x) Z 1 1\n(y'
		ln -s "${itself[0]}" "$disguise"
		(exec -a $'S (z)\n1 2 3' "$disguise" "${itself[@]:1}" named) &
		;;
	chain) chain "$chain_length" & ;;
	forker) (exec setsid "${itself[@]}" forker "$((EPOCHSECONDS + lifetime))") & ;;
	*)
		echo "no victim is called $1" >&2
		exit 1
		;;
	esac
}

# Succeeds if every kind is listed the expected number of times.
are_all_up() { # kind…
	local kind line
	local -A count=()
	while read -r line _; do ((++count[$line])); done < "$victims"
	for kind; do
		local wanted=1
		[[ $kind != chain ]] || wanted=$chain_length
		((${count[$kind]:-0} >= wanted)) || return 1
	done
}

# A pipe without a writer, to wait at.
[[ -p $folder/silence ]] || mkfifo "$folder/silence"
exec 9<> "$folder/silence"
trap '' TERM HUP INT

if [[ ${1:-} == as ]]; then
	# A forker gets the end of the life of all its forks, in seconds since 1970.
	end=${3:-} forks=0
	[[ $2 != forker ]] || forker
	victim "$2"
fi

(($#)) || set -- plain group session orphan bare stopped named chain forker
list pi "$PPID"
list root
for kind; do start "$kind"; done
until are_all_up "$@"; do pause; done
: > "$folder/up"
rest
