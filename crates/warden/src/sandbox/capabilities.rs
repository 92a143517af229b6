//! Takes away what root must not be able to do inside a sandbox.

use std::io;

use rustix::thread::{
    CapabilitySet, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};

/// Every capability with which a program could undo a sandbox, write around it, or change the system instead of its
/// files.
///
/// The rest lets root work with the files of others, change its identity and use the network.
const DROPPED: CapabilitySet = CapabilitySet::SYS_ADMIN // mounts, other namespaces, attributes of mounts
    .union(CapabilitySet::DAC_READ_SEARCH) // files by handle, which goes past every mount; DAC_OVERRIDE still reads all
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::SYS_BOOT)
    .union(CapabilitySet::SYS_TIME)
    .union(CapabilitySet::SYS_PACCT) // the kernel would write the file
    .union(CapabilitySet::SYS_RESOURCE) // limits of others, size of a file system
    .union(CapabilitySet::SYS_TTY_CONFIG)
    .union(CapabilitySet::MKNOD)
    .union(CapabilitySet::LINUX_IMMUTABLE)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::NET_RAW) // what others send and receive, a model on this machine for example
    .union(CapabilitySet::SYS_NICE) // ahead of all others on every processor
    .union(CapabilitySet::IPC_OWNER)
    .union(CapabilitySet::MAC_ADMIN)
    .union(CapabilitySet::MAC_OVERRIDE)
    .union(CapabilitySet::AUDIT_CONTROL)
    .union(CapabilitySet::SYSLOG)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::CHECKPOINT_RESTORE);

/// Gives up [`DROPPED`], for this process and everything it starts.
///
/// A process can always lower its own sets, and no program can regain any capability once it may gain no new privileges, which
/// Landlock requires. The bounding set is lowered too if that is allowed, for programs that inspect it.
pub(super) fn drop_dangerous() -> io::Result<()> {
    for capability in DROPPED.iter() {
        if remove_capability_from_bounding_set(capability).is_err() {
            break;
        }
    }
    clear_ambient_capability_set()?;
    let mut sets = capabilities(None)?;
    sets.effective.remove(DROPPED);
    sets.permitted.remove(DROPPED);
    sets.inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, sets)?)
}
