#!/bin/sh
# Starts a program in namespaces in which it can run a node of a cluster without a change of this machine: folders that
# containers and their network use are in memory, the control groups are below one that the caller removes, and settings of
# the kernel that a kubelet would write have the values that it wants already, in its view alone.
#
#     enter.sh NAME PROGRAM [ARGUMENT ...]
#
# NAME is the control group, in each hierarchy of version 1. Runs as root, in mount, process, IPC, host name and network
# namespaces of its own. The shell stays, and takes the end of processes that the program leaves behind.
set -eu
PATH=$PATH:/usr/sbin:/sbin
name=$1
shift

if [ "$1" != --entered ]; then
  for hierarchy in /sys/fs/cgroup/*; do
    case $(stat -f -c %T "$hierarchy") in cgroupfs | cgroup2fs) ;; *) continue ;; esac
    mkdir -p "$hierarchy/$name"
    # A group of CPUs takes processes once it has CPUs.
    for file in cpuset.cpus cpuset.mems; do
      if [ "${hierarchy##*/}" = cpuset ]; then cat "$hierarchy/$file" > "$hierarchy/$name/$file"; fi
    done
    echo 0 > "$hierarchy/$name/cgroup.procs"
  done
  exec unshare --cgroup "$0" "$name" --entered "$@"
fi
shift

# The same hierarchies, of which only the part of this cluster is visible.
hierarchies=$(sed -n 's|^[^ ]* /sys/fs/cgroup/\([^ ]*\) \(cgroup2*\) \([^ ]*\) .*|\1 \2 \3|p' /proc/mounts)
mount -t proc -o nosuid,nodev,noexec proc /proc
mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
echo "$hierarchies" | while read -r folder kind options; do
  mkdir "/sys/fs/cgroup/$folder"
  mount -t "$kind" -o "$(echo "$options" | sed -E 's/^(rw|ro),//; s/(^|,)relatime//; s/^$/rw/')" cgroup "/sys/fs/cgroup/$folder"
done
for folder in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done

mkdir /run/settings
while read -r file value; do
  copy=/run/settings/$(echo "$file" | tr / -)
  echo "$value" > "$copy"
  mount --bind "$copy" "/proc/sys/$file"
done << 'END'
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
END

hostname node
ip link set lo up
# The bridge of the pods, whose address is that of the node.
ip link add cni0 type bridge
ip address add 10.88.0.1/16 dev cni0
ip link set cni0 up
"$@"
exit $?
