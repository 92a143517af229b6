#!/bin/sh
# What a child tries that may write in its work tree and nowhere else, and what must work for it.
#
#   writer.sh --list                one line per attempt: its name and its kind
#   writer.sh --work                one line per piece of work: its name and what it wants
#   writer.sh --fixture DIR         makes the project, its neighbours, the home directory and other runs in DIR
#   writer.sh NAME                  makes one attempt or does one piece of work; 77 when this machine lacks a program
#
# Environment: WORK (the work tree; also the working directory), HOME, OTHERS (what belongs to other runs), TMPDIR.
#
# Kinds: `data` changes content or names outside, `meta` changes modes, owners, times or attributes outside, `kept` changes
# what is protected inside. Whether one worked is seen in what it attacks, not in its exit code. `wild` would harm the
# machine: it exits with 0 when it worked, and is never made without a sandbox. A kind with `-root` works for root only.
set -u

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

git_as_nobody() {
	need git
	git -c user.name=Nobody -c user.email=nobody@localhost -c commit.gpgsign=false "$@"
}

fixture() {
	mkdir -p "$1/project/work" "$1/project/gitdirs" "$1/home/.npm" "$1/others/pi-subagent-1" "$1/others/runs/1"
	cd "$1" || exit 1
	printf 'alias a=b\n' >home/.bashrc
	printf 'neighbour\n' >project/neighbour.txt
	printf 'of another run\n' >others/pi-subagent-1/file
	printf '{"type":"session"}\n' >others/runs/1/session.jsonl
	printf 'store\n' >others/store.db
	cd project/work || exit 1
	mkdir -p src .pi/agents .pi/extensions sub/deep/.pi module gone
	printf 'one\ntwo\nthree\n' >src/a.txt
	printf 'before\n' >README.md
	printf '{}\n' >.pi/settings.json
	printf -- '---\nname: a\n---\nDo it.\n' >.pi/agents/a.md
	printf '{}\n' >sub/deep/.pi/settings.json
	printf '{"mcpServers":{}}\n' >.mcp.json
	ln -s ../neighbour.txt out.txt
	ln -s ../../others out
	printf 'all: built\nbuilt: src/a.txt\n\tcat src/a.txt >built\nclean:\n\trm -f built\n' >Makefile
	cat >test.mjs <<-'TEST'
		import assert from "node:assert";
		import { test } from "node:test";
		import { writeFileSync, readFileSync } from "node:fs";
		test("writes beside itself", () => {
			writeFileSync("result.txt", "written");
			assert.equal(readFileSync("result.txt", "utf8"), "written");
		});
	TEST
	mkdir -p crate/src package
	printf '[package]\nname = "made"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n' >crate/Cargo.toml
	printf '#[test]\nfn works() { assert_eq!(made::two(), 2); }\n' >crate/src/test.rs
	printf 'pub fn two() -> u32 { 2 }\n#[test]\nfn works() { assert_eq!(two(), 2); }\n' >crate/src/lib.rs
	printf '{"name":"given","version":"1.0.0","main":"index.js"}\n' >package/package.json
	printf 'module.exports = 1;\n' >package/index.js
	# Without the samples of hooks, which would be copied for every attempt.
	git init -q -b main --template= .
	mkdir .git/hooks .git/info
	git_as_nobody add -A >/dev/null 2>&1
	git_as_nobody commit -q -m first
	printf 'untracked\n' >notes.txt
	# As a submodule or a linked worktree has it: a file that names a directory.
	git init -q --template= --separate-git-dir ../gitdirs/module module
	echo 'gitdir: ../../gitdirs/module' >module/.git
}

# attempt home_file data
home_file() { echo changed >>"$HOME/.bashrc"; }
# attempt home_new data
home_new() { echo planted >"$HOME/.profile"; }
# attempt home_cache data
home_cache() { mkdir -p "$HOME/.cache/x"; }
# attempt parent_file data
parent_file() { echo changed >../neighbour.txt; }
# attempt parent_new data
parent_new() { echo planted >../planted; }
# attempt parent_directory data
parent_directory() { mkdir ../planted; }
# attempt by_dots data
by_dots() { (cd src && echo changed >../../neighbour.txt); }
# attempt through_link data
through_link() { echo changed >out.txt; }
# attempt through_directory_link data
through_directory_link() { echo planted >out/planted; }
# attempt through_new_link data
through_new_link() { ln -s "$HOME/.bashrc" rc && echo changed >>rc; }
# attempt append_in_place data
append_in_place() { sed -i s/neighbour/changed/ --follow-symlinks out.txt; }
# attempt hard_link_in data
hard_link_in() { ln ../neighbour.txt hard && echo changed >hard; }
# attempt hard_link_out data
hard_link_out() { ln src/a.txt ../hard; }
# attempt hard_link_home data
hard_link_home() { ln "$HOME/.bashrc" rc && echo changed >>rc; }
# attempt move_over data
move_over() { mv README.md ../neighbour.txt; }
# attempt move_out data
move_out() { mv src ../moved; }
# attempt move_in data
move_in() { mv ../neighbour.txt .; }
# attempt move_tree data
move_tree() { mv ../work ../moved; }
# attempt remove_neighbour data
remove_neighbour() { rm -f ../neighbour.txt; }
# attempt remove_everything data
remove_everything() { rm -rf "$PWD" ../* "$OTHERS" "$HOME"; }
# attempt truncate_outside data
truncate_outside() { truncate -s 0 ../neighbour.txt; }
# attempt by_descriptor data
by_descriptor() { exec 3<.. && echo planted >/proc/self/fd/3/planted; }
# attempt reopened_descriptor data
reopened_descriptor() { exec 3<../neighbour.txt && echo changed >/proc/self/fd/3; }
# attempt by_own_root data
by_own_root() { echo planted >"/proc/self/root/${PWD%/work}/planted"; }
# attempt by_own_directory data
by_own_directory() { echo planted >/proc/self/cwd/../planted; }
# attempt other_temporary data
other_temporary() { echo changed >"$OTHERS/pi-subagent-1/file"; }
# attempt other_transcript data
other_transcript() { echo '{}' >>"$OTHERS/runs/1/session.jsonl"; }
# attempt store data
store() { echo changed >>"$OTHERS/store.db"; }
# attempt copy_out data
copy_out() { cp -f README.md ../neighbour.txt; }
# attempt unpack_out data
unpack_out() { tar cf "$TMPDIR/a.tar" README.md && tar xf "$TMPDIR/a.tar" -C ..; }
# attempt dd_out data
dd_out() { dd if=README.md of=../neighbour.txt 2>/dev/null; }
# attempt python_out data
python_out() { python -c 'open("../neighbour.txt", "r+").write("changed")'; }
# attempt unnamed_file data
unnamed_file() { python -c '
import ctypes, os
fd = os.open(".", os.O_TMPFILE | os.O_WRONLY)
ctypes.CDLL(None).linkat(-100, b"/proc/self/fd/%d" % fd, -100, b"../planted", 0x400)'; }
# attempt exchange data
exchange() { python -c '
import ctypes
ctypes.CDLL(None, use_errno=True).renameat2(-100, b"README.md", -100, b"../neighbour.txt", 2)'; }
# attempt outlives data
outlives() { setsid sh -c 'echo changed >../neighbour.txt' & wait; }
# attempt other_worktree data
other_worktree() { git_as_nobody worktree add -q ../planted; }
# attempt clone_out data
clone_out() { need git && git clone -q . ../planted; }
# attempt socket_out data
socket_out() { python -c 'import socket; socket.socket(socket.AF_UNIX).bind("../planted")'; }
# attempt pipe_out data
pipe_out() { mkfifo ../planted; }

# attempt mode_outside meta
mode_outside() { chmod 777 ../neighbour.txt; }
# attempt mode_through_link meta
mode_through_link() { chmod 777 out.txt; }
# attempt mode_parent meta
mode_parent() { chmod 777 ..; }
# attempt mode_home meta
mode_home() { chmod 777 "$HOME" "$HOME/.bashrc"; }
# attempt owner_outside meta-root
owner_outside() { chown 1:1 ../neighbour.txt; }
# attempt time_outside meta
time_outside() { touch -d 2001-01-01 ../neighbour.txt; }
# attempt time_of_parent meta
time_of_parent() { touch -d 2001-01-01 ..; }
# attempt attribute_outside meta
attribute_outside() { python -c 'import os; os.setxattr("../neighbour.txt", "user.a", b"1")'; }

# attempt hook kept
hook() { printf '#!/bin/sh\ntrue\n' >.git/hooks/post-checkout; }
# attempt hook_of_template kept
hook_of_template() { need git && git init -q --template=src . ; cp README.md .git/hooks/pre-commit; }
# attempt config_file kept
config_file() { printf '[core]\n\tfsmonitor = touch x\n' >>.git/config; }
# attempt config_value kept
config_value() { need git && git config user.name changed; }
# attempt config_hooks kept
config_hooks() { need git && git config core.hooksPath ../work/src; }
# attempt config_by_name kept
config_by_name() { need git && git config --file .git/config alias.x '!true'; }
# attempt attributes kept
attributes() { mkdir -p .git/info && echo '* filter=x' >.git/info/attributes; }
# attempt head kept
head() { echo 'ref: refs/heads/other' >.git/HEAD; }
# attempt commit kept
commit() { git_as_nobody commit -q --allow-empty -m changed; }
# attempt stage kept
stage() { need git && git add notes.txt; }
# attempt branch kept
branch() { need git && git branch other; }
# attempt gc kept
gc() { need git && git gc -q --prune=now; }
# attempt stash kept
stash() { git_as_nobody stash -q -u; }
# attempt repository_renamed kept
repository_renamed() { mv .git old; }
# attempt repository_removed kept
repository_removed() { rm -rf .git; }
# attempt repository_replaced kept
repository_replaced() { mkdir new && mv -T new .git || { rm -rf .git; mv new .git; }; }
# attempt repository_exchanged kept
repository_exchanged() { mkdir new && python -c '
import ctypes
ctypes.CDLL(None, use_errno=True).renameat2(-100, b"new", -100, b".git", 2)'; }
# attempt repository_linked kept
repository_linked() { rm -rf .git; ln -sfT src .git; }
# attempt hard_link_of_config kept
hard_link_of_config() { ln .git/config c && echo '# changed' >>c; }
# attempt moved_out_of_repository kept
moved_out_of_repository() { mv .git/config config; }
# attempt moved_into_repository kept
moved_into_repository() { mv README.md .git/hooks/pre-push; }
# attempt descriptor_of_repository kept
descriptor_of_repository() { exec 3<.git && echo changed >/proc/self/fd/3/config; }
# attempt descriptor_of_config kept
descriptor_of_config() { exec 3<.git/config && echo changed >/proc/self/fd/3; }
# attempt mode_of_config kept
mode_of_config() { chmod 777 .git/config; }
# attempt mode_of_repository kept
mode_of_repository() { chmod 777 .git; }
# attempt time_of_repository kept
time_of_repository() { touch -d 2001-01-01 .git .git/config; }
# attempt named_repository kept
named_repository() { need git && git -C module config user.name changed; }
# attempt pointer kept
pointer() { echo 'gitdir: ../src' >module/.git; }
# attempt pointer_replaced kept
pointer_replaced() { echo 'gitdir: ../src' >new && mv new module/.git; }
# attempt pointer_removed kept
pointer_removed() { rm -f module/.git; }
# attempt setting kept
setting() { echo '{"shellPath":"/bin/true"}' >.pi/settings.json; }
# attempt extension kept
extension() { echo 'export default () => {}' >.pi/extensions/planted.ts; }
# attempt agent kept
agent() { sed -i s/Do/Undo/ .pi/agents/a.md; }
# attempt pi_renamed kept
pi_renamed() { mv .pi old; }
# attempt pi_removed kept
pi_removed() { rm -rf .pi; }
# attempt pi_replaced kept
pi_replaced() { mkdir new; mv -T .pi old && mv -T new .pi; }
# attempt inner_pi kept
inner_pi() { echo '{"shellPath":"/bin/true"}' >sub/deep/.pi/settings.json; }
# attempt inner_pi_removed kept
inner_pi_removed() { rm -rf sub; }
# attempt servers kept
servers() { echo '{"mcpServers":{"a":{"command":"true"}}}' >.mcp.json; }
# attempt servers_replaced kept
servers_replaced() { echo '{}' >new && mv -f new .mcp.json; }
# attempt servers_removed kept
servers_removed() { rm -f .mcp.json; }
# attempt servers_in_place kept
servers_in_place() { sed -i 's/{}/{"a":1}/' .mcp.json; }
# attempt wiped kept
wiped() { find . -mindepth 1 -delete; }
# attempt cleaned kept
cleaned() { need git && git clean -q -f -f -d -x; rm -rf .[a-z]*; }

# attempt bind_over wild
bind_over() { mount --bind src .git; }
# attempt unmount wild
unmount() { umount .git || umount -l .git; }
# attempt unmount_tree wild
unmount_tree() { umount -l "$PWD"; }
# attempt remount wild
remount() { mount -o remount,bind,rw .git; }
# attempt remount_outside wild
remount_outside() { mount -o remount,bind,rw /; }
# attempt move_mount wild
move_mount() { mount --move .git src; }
# attempt own_mounts wild
own_mounts() { need unshare && unshare -m umount .git; }
# attempt own_user wild
own_user() { need unshare && unshare -r -m umount .git; }
# attempt enter_outside wild
enter_outside() { need nsenter && nsenter -t 1 -m touch "$PWD/.git/planted"; }
# attempt overlay wild
overlay() { mkdir up wk && mount -t overlay -o lowerdir=.git,upperdir=up,workdir=wk x .git; }
# attempt device wild
device() { mknod disk b 254 0; }
# attempt lease wild
lease() { python -c '
import fcntl
fd = open("../neighbour.txt")
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)'; }

# work editing any
editing() { sed -i s/two/zwei/ src/a.txt && grep -q zwei src/a.txt && echo more >>README.md && : >notes.txt; }
# work creating any
creating() { mkdir -p a/b/c && echo text >a/b/c/file && ln -s file a/b/c/link && ln a/b/c/file a/hard && mkfifo a/p; }
# work moving any
moving() { mkdir to && mv src/a.txt to/b.txt && mv to other && mv other/b.txt "$TMPDIR" 2>/dev/null && mv "$TMPDIR/b.txt" src/a.txt; }
# What lies in a mount of its own is not removed, nor is its name.
# work removing any
removing() { rm -r src && [ ! -e src ]; }
# work metadata any
metadata() { chmod 755 README.md && touch -d 2001-01-01 README.md && [ "$(stat -c %Y README.md)" = "$(date -d 2001-01-01 +%s)" ]; }
# work atomic_replace any
atomic_replace() { echo new >README.md.tmp && sync README.md.tmp && mv README.md.tmp README.md && grep -q new README.md; }
# work building any
building() { need make && make -s && [ "$(cat built)" = "$(cat src/a.txt)" ] && make -s clean; }
# work cargo any
cargo() {
	command cargo --version >/dev/null 2>&1 || exit 77
	cd crate && command cargo test -q --offline && [ -d target ]
}
# work testing any
testing() { need node && node --test test.mjs && [ "$(cat result.txt)" = written ]; }
# work git_status any
git_status() { need git && echo more >>README.md && git status --porcelain | grep -q README.md; }
# work git_diff any
git_diff() { need git && echo more >>README.md && git diff | grep -q '^+more' && git diff --stat | grep -q README; }
# work git_log any
git_log() { need git && git log --oneline | grep -q first && git show --stat HEAD >/dev/null && git blame README.md >/dev/null; }
# work git_apply any
git_apply() { need git && echo more >>README.md && git diff >p && git apply -R p && ! grep -q more README.md; }
# work own_repository any
own_repository() { need git && cp -r package mine && cd mine && git init -q && git_as_nobody add -A && git_as_nobody commit -q -m mine; }
# work npm any
npm() {
	need npm node
	mkdir app && cd app && echo '{"name":"app","version":"1.0.0"}' >package.json
	tar cf - -C .. package | gzip >given.tgz
	command npm install --offline --no-audit --no-fund ./given.tgz >"$TMPDIR/npm" 2>&1 || { cat "$TMPDIR/npm"; return 1; }
	[ -f node_modules/given/index.js ] && [ -n "$(ls -A "$HOME/.npm")" ]
}
# work venv any
venv() { need python3 && python -c 'import ensurepip' 2>/dev/null || exit 77; python -m venv --without-pip .venv && .venv/bin/python -c pass; }
# work server view
server() { python -c '
import socket
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect("s")'; }
# work inner_rename view
inner_rename() { mv sub renamed && [ -f renamed/deep/.pi/settings.json ] && ! echo x 2>/dev/null >renamed/deep/.pi/settings.json; }

case ${1:-} in
--list) sed -n 's/^# attempt //p' "$0" ;;
--work) sed -n 's/^# work //p' "$0" ;;
--fixture) fixture "$2" ;;
# A function, which the shell finds without another program.
*) if [ "$(command -v "$1")" = "$1" ]; then "$1"; else exit 64; fi ;;
esac
