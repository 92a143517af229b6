#!/bin/sh
# What must still work in the sandbox.
#
#   works.sh --list     one line per piece of work: its name and what it wants
#   works.sh NAME       does it; 0 when it worked, 77 when this machine lacks a program for it
#
# Environment: TREE (a project made by mutations.sh; also the working directory), AGENT (readable), and what may be
# written: TMPDIR, PRIVATE (a directory), SESSION (a file).
#
# `any` works in every sandbox, `view` only where the sandbox has a mount namespace, `own` only where the sandbox has its own
# `/tmp` and `/dev/shm`.
set -eu

list() {
	sed -n 's/^# work //p' "$0"
}

need() {
	for program in "$@"; do
		command -v "$program" >/dev/null 2>&1 || exit 77
	done
}

# A version manager's stand-in is slow and writes where it likes.
python() {
	if [ -x /usr/bin/python3 ]; then
		/usr/bin/python3 "$@"
	else
		need python3
		python3 "$@"
	fi
}

# work reading any
reading() { [ "$(cat src/a.txt | wc -l)" -eq 3 ] && grep -rq api_key "$AGENT" && ls -la / >/dev/null; }
# work git_status any
git_status() {
	need git
	git status --porcelain | grep -q notes.txt
}
# work git_log any
git_log() {
	need git
	git log --oneline --all | grep -q second
}
# work git_diff any
git_diff() {
	need git
	git diff main other | grep -q branch
}
# work test_runner any
test_runner() {
	need node
	node --test test/temporary.test.mjs
}
# work temporary_files any
temporary_files() {
	directory=$(mktemp -d)
	case $directory in "$TMPDIR"/*) ;; *) return 1 ;; esac
	mkdir "$directory/a" "$directory/b"
	echo text >"$directory/a/file"
	ln "$directory/a/file" "$directory/b/hard"
	ln -s file "$directory/a/link"
	mv "$directory/a/file" "$directory/b/moved"
	mkfifo "$directory/fifo"
	chmod 700 "$directory/b/moved"
	touch -d '2001-01-01' "$directory/b/moved"
	: >"$directory/b/moved"
	rm -r "$directory"
}
# work broken_pipe any
broken_pipe() {
	ended=$( { { yes || echo "$?" >&3; } | sed 1q >/dev/null; } 3>&1)
	[ "$ended" -gt 128 ]
}
# work working_directory any
working_directory() { cd "$TMPDIR" && echo text >here && [ "$(cat "$TMPDIR/here")" = text ] && rm here; }
# work program_in_tmp any
program_in_tmp() {
	printf '#!/bin/sh\necho ran\n' >"$TMPDIR/program"
	chmod +x "$TMPDIR/program"
	[ "$("$TMPDIR/program")" = ran ] && rm "$TMPDIR/program"
}
# work session_file any
session_file() {
	echo one >>"$SESSION" && echo two >>"$SESSION" && grep -q one "$SESSION" && : >"$SESSION"
}
# work private_directory any
private_directory() {
	echo '{}' >"$PRIVATE/auth.json.tmp" && mv "$PRIVATE/auth.json.tmp" "$PRIVATE/auth.json"
	mkdir "$PRIVATE/auth.json.lock" && rmdir "$PRIVATE/auth.json.lock" && chmod 600 "$PRIVATE/auth.json"
}
# work between_directories any
between_directories() { echo text >"$TMPDIR/file" && mv "$TMPDIR/file" "$PRIVATE/file" && rm "$PRIVATE/file"; }
# work large_document any
large_document() {
	# Longer than a pipe holds, so the shell may need a file.
	text=$(seq 1 20000)
	[ "$(cat <<-END | wc -l
		$text
	END
	)" -eq 20000 ]
}
# work loopback any
loopback() {
	need node
	node -e '
		const server = require("net").createServer((socket) => socket.end("hello"));
		server.listen(0, "127.0.0.1", () => {
			const client = require("net").connect(server.address().port, "127.0.0.1");
			client.on("data", (data) => { server.close(); client.end(); process.exitCode = String(data) === "hello" ? 0 : 1; });
		});'
}
# work sockets_inside any
sockets_inside() {
	need node
	node -e '
		const net = require("net");
		const names = [process.env.TMPDIR + "/s", "\0inside-" + process.pid];
		let left = names.length;
		for (const name of names) {
			const server = net.createServer((socket) => socket.end("hello"));
			server.on("error", (error) => { throw error; });
			server.listen(name, () => net.connect(name).on("error", (error) => { throw error; }).on("data", () => {
				server.close();
				left -= 1;
			}).on("end", function () { this.end(); }));
		}
		process.on("exit", () => { process.exitCode = left; });'
}
# work processes any
processes() {
	need ps
	ps -e | grep -q sh
}
# work children any
children() {
	sleep 60 &
	child=$!
	kill -9 $child
	wait $child || [ $? -eq 137 ]
}
# work devices any
devices() {
	echo gone >/dev/null
	[ "$(head -c 16 /dev/urandom | wc -c)" -eq 16 ]
	[ "$(head -c 16 /dev/zero | wc -c)" -eq 16 ]
	! echo full 2>/dev/null >/dev/full
}
# work standard_streams any
standard_streams() {
	[ "$(echo text >/dev/stdout)" = text ]
	[ "$( (echo text >/dev/stderr) 2>&1)" = text ]
	[ "$(echo text >/dev/fd/1)" = text ]
	[ "$(echo text | cat /dev/stdin)" = text ]
}
# work lock any
lock() {
	need flock
	flock -n README.md true
}
# work identity any
identity() { [ "$(stat -c %u src/a.txt)" = "$(id -u)" ] && [ "$(stat -c %g src/a.txt)" = "$(id -g)" ]; }
# work terminal view
terminal() {
	need script
	script -qec 'test -t 0 && test -t 1 && tty' /dev/null </dev/null | grep -q /dev/pts/
}
# work python_processes own
python_processes() {
	python - <<-'END'
		import multiprocessing, multiprocessing.shared_memory as shared
		def add(lock, value):
		    with lock:
		        value.value += 1
		if __name__ == "__main__":
		    lock, value = multiprocessing.Lock(), multiprocessing.Value("i", 0)
		    all = [multiprocessing.get_context("fork").Process(target=add, args=(lock, value)) for _ in range(3)]
		    for one in all: one.start()
		    for one in all: one.join()
		    assert value.value == 3, value.value
		    block = shared.SharedMemory(create=True, size=4096)
		    block.close()
		    block.unlink()
	END
}
# work python_tests own
python_tests() {
	python -c 'import pytest, xdist' 2>/dev/null || exit 77
	printf 'def test_a(tmp_path): (tmp_path / "x").write_text("x")\ndef test_b(): pass\n' >"$TMPDIR/test_both.py"
	python -m pytest -q -p no:cacheprovider -n 2 "$TMPDIR/test_both.py" | grep -q '2 passed'
}
# work java_files own
java_files() {
	need java
	# Only then it runs a source.
	java --list-modules 2>/dev/null | grep -q jdk.compiler || exit 77
	cat >"$TMPDIR/Own.java" <<-'END'
		import java.nio.file.*;
		public class Own {
		    public static void main(String[] arguments) throws Exception {
		        Path file = Files.createTempFile("own", ".txt");
		        Files.writeString(file, "text");
		        java.io.File other = java.io.File.createTempFile("own", ".txt");
		        System.out.println(file.startsWith("/tmp") && other.delete() ? "made" : "elsewhere: " + file);
		    }
		}
	END
	[ "$(java "$TMPDIR/Own.java")" = made ]
}
# work zsh_document own
zsh_document() {
	need zsh
	[ "$(zsh -f -c 'cat <<END
a document
END
')" = 'a document' ] && [ "$(zsh -f -c 'cat =(echo a file)')" = 'a file' ]
}
# work node_socket own
node_socket() {
	need node
	node -e '
		const server = require("net").createServer((socket) => socket.end("hello")).listen("/tmp/own-server.sock", () => {
			require("net").connect("/tmp/own-server.sock").on("data", (data) => { server.close(); console.log(String(data)); });
		});' | grep -q hello
}
# work fixed_names own
fixed_names() {
	# Others may have the same name there.
	mkdir -p "/tmp/hsperfdata_$(id -un)" /tmp/jiti 2>/dev/null || true
	file=$(mktemp /tmp/own.XXXXXX) && echo text >"$file" && [ "$(cat "$file")" = text ]
	env -u TMPDIR mktemp -d | grep -q '^/tmp/'
}

case ${1:-} in
--list) list ;;
# A function, which the shell finds without another program.
*) if [ "$(command -v "$1")" = "$1" ]; then "$1"; else exit 64; fi ;;
esac
