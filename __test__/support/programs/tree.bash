# A process tree that is hard to end. `bash tree.bash <folder> [kind…]` starts one process of each kind (all kinds unless
# told which; `chain` is 20 processes), each of which ignores SIGTERM, SIGHUP and SIGINT and holds the standard output
# that it was given. The first process stays as their parent. `<folder>/victims` lists them as they come: kind, process
# id, start time in ticks, so that they can be told from whoever gets their number later. `<folder>/up` appears when all
# are there. Everything ends by itself after two minutes at the latest, and never are there more than 40 processes. A file
# `<folder>/over` ends the forker, which is hard to meet for whoever looks slowly.
#
#   root     the parent of the others; `pi`, the parent of that one, is listed too
#   plain    a child like any other
#   group    leads a process group of its own
#   session  leads a session of its own
#   orphan   the same, and its parent has left
#   bare     the same, and its environment is empty
#   stopped  is stopped
#   named    has a name that nobody should parse
#   chain    a child that has a child that has a child …
#   forker   leads a session, and is somebody else every other millisecond: forks and leaves

folder=$1
shift
victims=$folder/victims

readonly lifetime=120 chain_length=20
# A shell that forks itself nests a call deeper each time; it starts afresh before that costs anything.
readonly fresh_every=100

# Lists a process, this one unless told otherwise. Only builtins: a victim is one process.
list() { # kind [pid]
	local pid=${2:-$BASHPID} stat
	IFS= read -r -d '' stat < "/proc/$pid/stat"
	# The name may hold anything; what follows the last parenthesis begins with field 3.
	local -a fields=(${stat##*) })
	echo "$1 $pid ${fields[19]}" >> "$victims"
}

# Does nothing for its whole life, without a process more.
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

# Becomes this program again, as one victim; what stands before is how.
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

# Whether every kind is listed as often as it should be.
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

# A pipe that nobody writes to, to wait at.
[[ -p $folder/silence ]] || mkfifo "$folder/silence"
exec 9<> "$folder/silence"
trap '' TERM HUP INT

if [[ ${1:-} == as ]]; then
	# A forker has no life of its own to rest for: it is told when that of all its forks ends, in seconds since 1970.
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
