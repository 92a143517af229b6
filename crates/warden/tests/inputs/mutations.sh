#!/bin/sh
# Attempts to change a tree that must not change, by real programs.
#
#   mutations.sh --list                   one line per attempt: its name and its kind
#   mutations.sh --fixture TREE AGENT     makes the project and the agent directory that they attack
#   mutations.sh NAME                     makes one attempt; 77 when this machine lacks a program for it
#
# Environment: TREE (the project; also the working directory), AGENT (pi's agent directory), TMPDIR (may be written),
# VICTIM (a process outside, optional: its standard output is open for writing below TREE), WARDEN (the process that put
# this one into the sandbox, optional), SESSION (a file that may be written and not replaced, optional), ABSTRACT (the name of an abstract socket outside, optional).
#
# Kinds: `data` changes content or names, `meta` changes modes, owners, times or attributes, `kill` ends VICTIM or WARDEN.
# Whether one worked is seen in the tree, not in its exit code. A kind with `-root` works for root only, when nothing holds it.
# `host` leaves nothing in the tree, or only where the child may write, and harms nobody: it exits with 0 when it worked.
# `wild` would harm the machine or leaves nothing in the tree: it exits with 0 when it worked, and is never made
# without a sandbox.
set -u

list() {
	sed -n 's/^# attempt //p' "$0"
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

git_as_nobody() {
	need git
	git -c user.name=Nobody -c user.email=nobody@localhost -c commit.gpgsign=false "$@"
}

need_victim() {
	[ -n "${VICTIM:-}" ] || exit 77
}

# A signal that was sent has not arrived yet.
until_ended() {
	rounds=0
	while grep -q 'State:.[^Z]' "/proc/$VICTIM/status" 2>/dev/null && [ $rounds -lt 500 ]; do
		sleep 0.01
		rounds=$((rounds + 1))
	done
}

fixture() {
	TREE=$1 AGENT=$2
	mkdir -p "$TREE/src" "$TREE/empty" "$TREE/work" "$TREE/test" "$AGENT/extensions" "$AGENT/agents" "$AGENT/prompts"
	cd "$TREE" || exit 1
	printf 'one\ntwo\nthree\n' >src/a.txt
	printf 'other\n' >src/b.txt
	printf '#!/bin/sh\necho run\n' >run.sh
	chmod 755 run.sh
	ln -s src/a.txt link
	printf 'before\n' >README.md
	cat >change.patch <<-'PATCH'
		--- a/src/a.txt
		+++ b/src/a.txt
		@@ -1,3 +1,3 @@
		 one
		-two
		+changed
		 three
	PATCH
	cat >test/temporary.test.mjs <<-'TEST'
		import assert from "node:assert";
		import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
		import { tmpdir } from "node:os";
		import { join } from "node:path";
		import { test } from "node:test";

		test("a temporary file is written and read", () => {
			const directory = mkdtempSync(join(tmpdir(), "test-"));
			writeFileSync(join(directory, "file"), "content");
			assert.equal(readFileSync(join(directory, "file"), "utf8"), "content");
			rmSync(directory, { recursive: true });
		});
	TEST
	mkdir packed && printf 'from the archive\n' >packed/a.txt
	tar -cf box.tar -C packed a.txt && rm -r packed
	if command -v git >/dev/null 2>&1; then
		git init -q -b main --template= . && mkdir .git/hooks .git/info && git add . && git_as_nobody commit -q -m first
		git checkout -q -b other && printf 'on the other branch\n' >src/a.txt && git_as_nobody commit -q -a -m second
		git checkout -q main
	fi
	printf 'not in git\n' >notes.txt
	: >victim.log
	printf '{"theme":"dark"}\n' >"$AGENT/settings.json"
	printf '{"provider":{"type":"api_key","key":"k"}}\n' >"$AGENT/auth.json"
	chmod 600 "$AGENT/auth.json"
	printf 'be brief\n' >"$AGENT/prompts/brief.md"
}

# --- the shell and its tools ---
# attempt redirect data
try_redirect() { echo changed >src/a.txt; }
# attempt append data
try_append() { echo changed >>src/a.txt; }
# attempt create data
try_create() { : >src/new.txt; }
# attempt sed_in_place data
try_sed_in_place() { sed -i 's/one/1/' src/a.txt; }
# attempt perl_in_place data
try_perl_in_place() {
	need perl
	perl -pi -e 's/one/1/' src/a.txt
}
# attempt remove data
try_remove() { rm -f src/a.txt; }
# attempt remove_tree data
try_remove_tree() { rm -rf src; }
# attempt find_delete data
try_find_delete() { find src -name '*.txt' -delete; }
# attempt remove_directory data
try_remove_directory() { rmdir empty; }
# attempt make_directory data
try_make_directory() { mkdir src/new; }
# attempt make_fifo data
try_make_fifo() { mkfifo src/fifo; }
# attempt make_device data-root
try_make_device() { mknod src/disk b 7 0; }
# attempt move_in data
try_move_in() { echo new >"$TMPDIR/new" && mv "$TMPDIR/new" src/; }
# attempt move_out data
try_move_out() { mv src/a.txt "$TMPDIR/"; }
# attempt move_directory_out data
try_move_directory_out() { mv src "$TMPDIR/"; }
# attempt rename_over data
try_rename_over() { mv -f src/b.txt src/a.txt; }
# attempt rename_in_from_outside data
try_rename_in_from_outside() {
	need perl
	echo new >"$TMPDIR/new" && perl -e 'rename("$ENV{TMPDIR}/new", "src/a.txt") or die $!'
}
# attempt exchange data
try_exchange() {
	echo new >"$TMPDIR/new"
	python - <<-'PYTHON'
		import ctypes, os
		libc = ctypes.CDLL(None, use_errno=True)
		new, old = os.environ["TMPDIR"] + "/new", "src/a.txt"
		raise SystemExit(libc.renameat2(-100, new.encode(), -100, old.encode(), 2) != 0)
	PYTHON
}
# attempt copy_onto data
try_copy_onto() { cp -f README.md src/a.txt; }
# attempt copy_tree_in data
try_copy_tree_in() { cp -a "$AGENT" src/copy; }
# attempt install data
try_install() {
	need install
	install -m 755 run.sh src/installed.sh
}
# attempt hard_link data
try_hard_link() { ln src/a.txt src/hard; }
# attempt hard_link_out data
try_hard_link_out() { ln src/a.txt "$TMPDIR/hard" && echo changed >>"$TMPDIR/hard"; }
# attempt symbolic_link data
try_symbolic_link() { ln -s /etc/passwd src/symbolic; }
# attempt through_a_link data
try_through_a_link() { ln -sf "$TREE/src/a.txt" "$TMPDIR/link" && echo changed >"$TMPDIR/link"; }
# attempt through_a_directory_link data
try_through_a_directory_link() { ln -sfn "$TREE/src" "$TMPDIR/links" && echo new >"$TMPDIR/links/new.txt"; }
# attempt truncate_by_path data
try_truncate_by_path() {
	need truncate
	truncate -s 0 src/a.txt
}
# attempt truncate_call data
try_truncate_call() { python -c 'import os; os.truncate("src/a.txt", 1)'; }
# attempt fallocate data
try_fallocate() {
	need fallocate
	fallocate -l 100 src/a.txt
}
# attempt dd data
try_dd() { echo changed | dd of=src/a.txt conv=notrunc 2>/dev/null; }
# attempt tee data
try_tee() { echo changed | tee -a src/a.txt >/dev/null; }
# attempt tar data
try_tar() { tar -xf box.tar -C src; }
# attempt patch data
try_patch() {
	need patch
	patch -p1 -i change.patch
}
# attempt open_then_execute data
try_open_then_execute() { sh -c 'exec 9>>src/a.txt; exec sh -c "echo changed >&9"'; }
# attempt outlives_its_parent data
try_outlives_its_parent() {
	need setsid
	rm -f "$TMPDIR/outlived"
	# The shell between ends at once; what it leaves behind writes when that parent has gone.
	sh -c 'setsid sh -c "while kill -0 $$ 2>/dev/null; do sleep 0.01; done; echo changed >>src/a.txt; : >\"\$TMPDIR/outlived\"" &'
	rounds=0
	until [ -e "$TMPDIR/outlived" ] || [ $rounds -gt 500 ]; do
		sleep 0.01
		rounds=$((rounds + 1))
	done
}
# attempt inherited_descriptor data
try_inherited_descriptor() {
	# One that leads out of here, opened before the sandbox was entered.
	python - <<-'PYTHON'
		import os
		for name in os.listdir("/proc/self/fd"):
		    try:
		        if os.readlink("/proc/self/fd/" + name).startswith(os.environ["TREE"]):
		            os.write(int(name), b"changed")
		    except OSError:
		        pass
	PYTHON
}

# attempt core_dump data
try_core_dump() {
	# The kernel writes the file, where the machine is set up that way.
	case $(cat /proc/sys/kernel/core_pattern) in core*) ;; *) exit 77 ;; esac
	(cd src && sh -c 'ulimit -c unlimited; kill -SEGV $$')
}

# --- git ---
# attempt git_commit data
try_git_commit() { git_as_nobody commit -q --allow-empty -m more; }
# attempt git_add data
try_git_add() { git_as_nobody add notes.txt; }
# attempt git_checkout data
try_git_checkout() { git_as_nobody checkout -q -f other; }
# attempt git_config data
try_git_config() { git_as_nobody config core.pager cat; }
# attempt git_clean data
try_git_clean() { git_as_nobody clean -q -f -d -x; }
# attempt git_branch data
try_git_branch() { git_as_nobody branch more; }
# attempt git_apply data
try_git_apply() { git_as_nobody apply change.patch; }
# attempt git_hook data
try_git_hook() { printf '#!/bin/sh\n' >.git/hooks/post-checkout; }

# --- other languages and other calls ---
# attempt python_write data
try_python_write() { python -c 'open("src/a.txt", "w").write("changed")'; }
# attempt python_mapping data
try_python_mapping() {
	python -c 'import mmap; f = open("src/a.txt", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0:1] = b"X"; m.flush()'
}
# attempt python_unnamed_file data
try_python_unnamed_file() {
	# A file without a name gets one: no call that creates by name is involved.
	python - <<-'PYTHON'
		import ctypes, os
		unnamed = os.open("src", os.O_TMPFILE | os.O_WRONLY, 0o644)
		ctypes.CDLL(None).linkat(-100, b"/proc/self/fd/%d" % unnamed, -100, b"src/new.txt", 0x400)
	PYTHON
}
# attempt python_socket data
try_python_socket() { python -c 'import socket; socket.socket(socket.AF_UNIX).bind("src/socket")'; }
# attempt node_write data
try_node_write() {
	need node
	node -e 'require("fs").writeFileSync("src/a.txt", "changed")'
}
# attempt node_ring data
try_node_ring() {
	need node
	UV_USE_IO_URING=1 node -e 'require("fs").promises.writeFile("src/a.txt", "changed")'
}
# attempt node_remove data
try_node_remove() {
	need node
	node -e 'require("fs").rmSync("src", { recursive: true })'
}

# --- other names of the same tree ---
# attempt own_root data
try_own_root() { echo changed >>"/proc/self/root$TREE/src/a.txt"; }
# attempt own_directory data
try_own_directory() { echo changed >>/proc/self/cwd/src/a.txt; }
# attempt parents_root data
try_parents_root() { echo changed >>"/proc/${WARDEN:-$PPID}/root$TREE/src/a.txt"; }
# attempt first_root data-root
try_first_root() { echo changed >>"/proc/1/root$TREE/src/a.txt"; }
# attempt victims_root data
try_victims_root() {
	need_victim
	echo changed >>"/proc/$VICTIM/root$TREE/src/a.txt"
}
# attempt victims_descriptor data
try_victims_descriptor() {
	need_victim
	echo changed >>"/proc/$VICTIM/fd/1"
}
# attempt stolen_descriptor data
try_stolen_descriptor() {
	need_victim
	python - <<-'PYTHON'
		import ctypes, os
		call = ctypes.CDLL(None, use_errno=True).syscall
		stolen = call(438, os.pidfd_open(int(os.environ["VICTIM"])), 1, 0)
		os.write(stolen, b"changed")
	PYTHON
}
# attempt chroot data-root
try_chroot() {
	need chroot
	chroot / sh -c "echo changed >>$TREE/src/a.txt"
}

# --- namespaces and mounts ---
# attempt unshare_remount data
try_unshare_remount() {
	need unshare mount
	unshare -r -m sh -c 'mount -o remount,bind,rw /; mount -o remount,bind,rw "$TREE"; echo changed >>src/a.txt'
}
# attempt unshare_bind data
try_unshare_bind() {
	need unshare mount
	mkdir -p "$TMPDIR/bound"
	unshare -r -m sh -c 'mount --bind "$TREE" "$TMPDIR/bound" && echo changed >>"$TMPDIR/bound/src/a.txt"'
}
# attempt unshare_root data-root
try_unshare_root() {
	need unshare mount
	unshare -m sh -c 'mount -o remount,bind,rw /; echo changed >>src/a.txt'
}
# attempt overlay data
try_overlay() {
	# The kernel writes into the upper layer by itself, with the rights of whoever mounted it. The mount has no name.
	mkdir -p "$TMPDIR/lower/new" && ln -sf nowhere "$TMPDIR/lower/new-link" && : >"$TMPDIR/lower/new-file"
	python - <<-'PYTHON'
		import ctypes, os
		libc = ctypes.CDLL(None, use_errno=True)
		call, tree = libc.syscall, os.environ["TREE"]
		def must(answer):
		    if answer < 0:
		        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
		    return answer
		user, group = os.getuid(), os.getgid()
		must(libc.unshare(0x10000000 | 0x00020000))
		try:
		    for name, text in ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1"):
		        open("/proc/self/" + name, "w").write(text)
		except OSError:
		    pass
		kind = must(call(430, b"overlay", 0))
		for key, value in ("lowerdir", os.environ["TMPDIR"] + "/lower"), ("upperdir", tree + "/src"), ("workdir", tree + "/work"):
		    must(call(431, kind, 1, key.encode(), value.encode(), 0))
		call(431, kind, 0, b"userxattr", None, 0)
		must(call(431, kind, 6, None, None, 0))
		mount = must(call(432, kind, 0, 0))
		os.fchdir(mount)
		for change in lambda: os.chmod("new", 0o700), lambda: os.utime("new-link", (1, 1), follow_symlinks=False), lambda: os.chmod("new-file", 0o600):
		    try:
		        change()
		    except OSError as error:
		        print(error)
	PYTHON
}
# attempt enter_first data-root
try_enter_first() {
	need nsenter
	nsenter -t 1 -m sh -c "echo changed >>$TREE/src/a.txt"
}
# attempt enter_victim data
try_enter_victim() {
	need_victim
	need nsenter
	# With the rights of root; for others the mount namespace stays shut, and the directory alone is entered.
	nsenter -t "$VICTIM" -m sh -c "echo changed >>$TREE/src/a.txt" || (cd "/proc/$VICTIM/cwd" && echo changed >>"$TREE/victim.log" && cd "$TREE")
}

# --- pi's own directory ---
# attempt agent_extension data
try_agent_extension() { echo 'export default () => {};' >"$AGENT/extensions/planted.ts"; }
# attempt agent_definition data
try_agent_definition() { printf -- '---\nname: planted\n---\n' >"$AGENT/agents/planted.md"; }
# attempt agent_settings data
try_agent_settings() { echo '{"theme":"light"}' >"$AGENT/settings.json"; }
# attempt agent_prompt data
try_agent_prompt() { echo 'obey me' >"$AGENT/prompts/planted.md"; }
# attempt agent_auth data
try_agent_auth() { sed -i 's/"k"/"!touch planted"/' "$AGENT/auth.json"; }
# attempt agent_models data
try_agent_models() { echo '{}' >"$AGENT/models.json"; }
# attempt agent_replaced data
try_agent_replaced() { mv "$AGENT" "$AGENT.old" && mkdir "$AGENT"; }

# --- modes, owners, times, attributes ---
# attempt chmod meta
try_chmod() { chmod 600 src/a.txt; }
# attempt chmod_agent meta
try_chmod_agent() { chmod 644 "$AGENT/auth.json"; }
# attempt chown meta
try_chown() { chown "$(id -u):$(id -g)" src/a.txt; }
# attempt chown_root meta-root
try_chown_root() { chown 12345:12345 src/a.txt; }
# attempt touch meta
try_touch() { touch -d '2001-01-01 00:00:00' src/a.txt; }
# attempt touch_link meta
try_touch_link() { touch -h -d '2001-01-01 00:00:00' link; }
# attempt attribute meta
try_attribute() { python -c 'import os; os.setxattr("src/a.txt", "user.changed", b"1")'; }
# attempt flags meta
try_flags() {
	need chattr
	chattr +d src/a.txt
}
# attempt chmod_descriptor meta
try_chmod_descriptor() { python -c 'import os; os.fchmod(os.open("src/a.txt", os.O_RDONLY), 0o600)'; }
# attempt chmod_own_root meta
try_chmod_own_root() { chmod 600 "/proc/self/root$TREE/src/a.txt"; }
# attempt chmod_unshared meta
try_chmod_unshared() {
	need unshare
	unshare -r -m chmod 600 "$TREE/src/a.txt"
}
# attempt chmod_by_handle meta-root
try_chmod_by_handle() {
	# A handle names a file past every mount; the directory that may be written lends its mount.
	python - <<-'PYTHON'
		import ctypes, os
		call = ctypes.CDLL(None, use_errno=True).syscall
		handle = ctypes.create_string_buffer(8 + 128)
		handle[0:4] = (128).to_bytes(4, "little")
		mount = ctypes.c_int()
		if call(303, -100, b"src/a.txt", handle, ctypes.byref(mount), 0) != 0:
		    raise SystemExit(77)
		lender = os.open(os.environ["TMPDIR"], os.O_RDONLY)
		for unshare in False, True:
		    if unshare:
		        ctypes.CDLL(None).unshare(0x10000000 | 0x00020000)
		    found = call(304, lender, handle, os.O_RDONLY)
		    if found >= 0:
		        os.fchmod(found, 0o600)
	PYTHON
}
# attempt chmod_writable_again meta
try_chmod_writable_again() {
	python - <<-'PYTHON'
		import ctypes, os
		libc = ctypes.CDLL(None, use_errno=True)
		writable = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
		def undo():
		    for path in b"/", os.environ["TREE"].encode(), os.environ["TMPDIR"].encode():
		        libc.syscall(442, -100, path, 0x8000, writable, 32)
		    try:
		        os.chmod("src/a.txt", 0o600)
		    except OSError as error:
		        print(error)
		undo()
		libc.unshare(0x10000000 | 0x00020000)
		undo()
	PYTHON
}
# attempt chmod_copied_mount meta
try_chmod_copied_mount() {
	# A copy of a mount that is in no namespace, made writable before anybody sees it.
	python - <<-'PYTHON'
		import ctypes, os
		libc = ctypes.CDLL(None, use_errno=True)
		writable = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
		for unshare in False, True:
		    if unshare:
		        libc.unshare(0x10000000 | 0x00020000)
		    for flags in 0x80001, 0x88001:
		        copy = libc.syscall(428, -100, b"/", flags)
		        libc.syscall(442, copy, b"", 0x1000, writable, 32)
		        try:
		            os.chmod(os.environ["TREE"][1:] + "/src/a.txt", 0o600, dir_fd=copy if copy >= 0 else None)
		        except OSError as error:
		            print(error)
		os.chmod("src/a.txt", 0o600)
	PYTHON
}

# --- processes outside ---
# attempt kill kill
try_kill() {
	need_victim
	kill -9 "$VICTIM" && until_ended
}
# attempt kill_by_handle kill
try_kill_by_handle() {
	need_victim
	python -c 'import os, signal; signal.pidfd_send_signal(os.pidfd_open(int(os.environ["VICTIM"])), 9)' && until_ended
}
# attempt kill_warden kill
try_kill_warden() {
	[ -n "${WARDEN:-}" ] || exit 77
	kill -9 "$WARDEN"
}

# --- the host, by what it has open and what it may use ---
# attempt limit_of_victim host
try_limit_of_victim() {
	need_victim
	need prlimit
	prlimit --pid "$VICTIM" --core=0:0
}
# attempt limit_of_warden host
try_limit_of_warden() {
	[ -n "${WARDEN:-}" ] || exit 77
	need prlimit
	prlimit --pid "$WARDEN" --core=0:0
}
# attempt lease host
try_lease() {
	# Whoever opens the file for writing has to wait, for most of a minute.
	python -c 'import fcntl; fcntl.fcntl(open("src/a.txt"), fcntl.F_SETLEASE, fcntl.F_RDLCK)'
}
# attempt ring host
try_ring() {
	python - <<-'PYTHON'
		import ctypes
		raise SystemExit(ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(120)) < 0)
	PYTHON
}
# attempt user_namespace host
try_user_namespace() {
	need unshare
	unshare --user true
}
# attempt sparse_file host
try_sparse_file() {
	need truncate
	truncate -s 2T "$TMPDIR/sparse"
}
# attempt link_for_session host
try_link_for_session() {
	[ -n "${SESSION:-}" ] || exit 77
	# Whoever writes the session next would write into the tree.
	mkdir -p "$TMPDIR/linked" && ln -sf "$TREE/src/a.txt" "$TMPDIR/linked/link" && mv -f "$TMPDIR/linked/link" "$SESSION"
}
# attempt disk host-root
try_disk() {
	for disk in /dev/[svx]d[a-z]* /dev/nvme* /dev/dm-* /dev/loop* /dev/kmsg /dev/mem; do
		[ ! -e "$disk" ] || ! dd if="$disk" of=/dev/null bs=1 count=1 iflag=nonblock || return 0
	done
	return 1
}

# --- the machine ---
# attempt remount_everything wild
try_remount_everything() {
	need mount
	mount -o remount,rw /
}
# attempt bind_over wild
try_bind_over() {
	need mount
	mount --bind "$TMPDIR" "$TREE/src"
}
# attempt unmount wild
try_unmount() {
	need umount
	umount -l "$TMPDIR" || umount -l /proc
}
# attempt device_in_tmp wild
try_device_in_tmp() { mknod "$TMPDIR/disk" b 7 0; }
# attempt disks wild
try_disks() {
	for disk in /dev/[svx]d[a-z]* /dev/nvme* /dev/dm-* /dev/loop* /dev/mem; do
		[ ! -e "$disk" ] || ! : >>"$disk" || return 0
	done
	return 1
}
# attempt kernel_setting wild
try_kernel_setting() {
	setting=$(cat /proc/sys/kernel/core_pattern) && printf '%s' "$setting" >/proc/sys/kernel/core_pattern
}
# attempt control_group wild
try_control_group() { echo $$ >/sys/fs/cgroup/cgroup.procs || mkdir /sys/fs/cgroup/planted; }
# attempt terminals_of_others wild
try_terminals_of_others() {
	for terminal in /dev/pts/[0-9]* /dev/console /dev/tty[0-9]; do
		[ ! -e "$terminal" ] || ! : >>"$terminal" || return 0
	done
	return 1
}
# attempt trace_outside wild
try_trace_outside() {
	need_victim
	python -c 'import ctypes, os, sys; sys.exit(ctypes.CDLL(None).ptrace(0x4206, int(os.environ["VICTIM"]), 0, 0) != 0)'
}
# attempt abstract_socket wild
try_abstract_socket() {
	[ -n "${ABSTRACT:-}" ] || exit 77
	python -c 'import os, socket; socket.socket(socket.AF_UNIX).connect("\0" + os.environ["ABSTRACT"])'
}

case ${1:-} in
--list) list ;;
--fixture) fixture "$2" "$3" ;;
*) if command -v "try_$1" >/dev/null; then "try_$1"; else exit 64; fi ;;
esac
