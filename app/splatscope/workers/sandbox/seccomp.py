"""seccomp-bpf: the filter program with which Linux refuses system calls of a sandboxed process."""

import ctypes
import errno
import os
import platform
import struct

from splatscope.workers.sandbox.system_calls import forbid_new_privileges, prctl, syscall

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}  # as the kernel numbers them

# Name: (number on x86_64, number on all newer architectures); None if there is no such call.
_REFUSED = {
    # access to other machines and to other processes
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "sendto": (44, 206), "sendmsg": (46, 211), "sendmmsg": (307, 269), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "process_madvise": (440, 440),
    "kcmp": (312, 272), "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),  # memory that does not count towards this process's limits
    # new programs, processes, threads and namespaces
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None),
    "clone": (56, 220), "clone3": (435, 435), "unshare": (272, 97), "setns": (308, 268),
    "setpgid": (109, 154), "setsid": (112, 157), "io_setup": (206, 0), "mlockall": (151, 230),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "syslog": (103, 116),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    # not covered by Landlock: changing modes, owners, times and attributes of files, and watching files
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "inotify_add_watch": (254, 27), "fanotify_init": (300, 262),
    "file_getattr": (468, 468), "file_setattr": (469, 469), "flock": (73, 32), "sync": (162, 81), "syncfs": (306, 267),
    "fallocate": (285, 47),  # takes room on a disk that does not count as written
}  # fmt: skip
_OTHERS = {"tgkill": (234, 131), "prlimit64": (302, 261), "fcntl": (72, 25), "ioctl": (16, 29), "seccomp": (317, 277)}

# Commands with which a file sends signals to other processes, delays them, or changes what it is for them.
_REACHES_OTHERS = {
    "fcntl": (8, 10, 15, 1024, 1026),  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
    "ioctl": (
        *(0x8901, 0x8902, 0x5452),  # FIOSETOWN, SIOCSPGRP, FIOASYNC
        *(0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40047602),  # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION
    ),
}

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
# Offsets in the data that the filter receives. Of the arguments, they are those of the lower 32 bits, which are all that the kernel
# reads of a command.
_NUMBER, _MACHINE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_GET_SECCOMP = 21
_SET_MODE_FILTER, _ALL_THREADS = 1, 1


def is_supported() -> bool:
    """Return whether this system supports seccomp filters and is one of `MACHINES`."""
    try:
        prctl(_GET_SECCOMP)
    except OSError:
        return False
    return platform.machine() in MACHINES


def restrict_calls() -> None:
    """Deny sockets, new processes and threads, and access to other processes to all threads of this process.

    Such calls fail with EPERM.

    Raises:
        OSError: The system refuses.
    """
    forbid_new_privileges()
    program = filter_program(platform.machine(), os.getpid(), errno.EPERM)
    code = ctypes.create_string_buffer(program, len(program))
    fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code)), 16)
    syscall(call_number("seccomp", platform.machine()), _SET_MODE_FILTER, _ALL_THREADS, fprog)


def call_number(name: str, machine: str) -> int:
    """Return the number of a system call in `_REFUSED` or `_OTHERS`; -1 if the machine does not have it."""
    on_x86, elsewhere = (_REFUSED | _OTHERS)[name]
    number = on_x86 if machine == "x86_64" else elsewhere
    return -1 if number is None else number


def filter_program(machine: str, process: int, refused: int) -> bytes:
    """Return the filter for a process, 8 bytes per instruction.

    Args:
        machine: One of `MACHINES`.
        process: The id of the process, which may signal its own threads.
        refused: The error number of refused calls.
    """
    code = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, MACHINES[machine]), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    if machine == "x86_64":  # also refuse the same calls under their numbers in the x32 ABI
        code += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _FAIL | refused)]
    for name in _REFUSED:
        if call_number(name, machine) >= 0:
            code += [(_EQUAL, 0, 1, call_number(name, machine)), (_RETURN, 0, 0, _FAIL | refused)]
    for name, value in (("tgkill", process), ("prlimit64", 0)):
        code += [
            (_EQUAL, 0, 4, call_number(name, machine)),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_EQUAL, 0, 1, value),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _FAIL | refused),
        ]
    for name, commands in _REACHES_OTHERS.items():
        code += [(_EQUAL, 0, 2 + 2 * len(commands), call_number(name, machine)), (_LOAD, 0, 0, _SECOND_ARGUMENT)]
        for command in commands:
            code += [(_EQUAL, 0, 1, command), (_RETURN, 0, 0, _FAIL | refused)]
        code.append((_RETURN, 0, 0, _ALLOW))
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)
