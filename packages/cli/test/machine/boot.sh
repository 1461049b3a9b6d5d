#!/bin/sh
# Boots a machine that is thrown away: systemd as process 1 of namespaces of its own, with a root in memory. Programs and
# libraries are those of this machine, read-only; services, users and units are its own. It has no network but loopback.
# Everything is gone with its process 1, and nothing of this machine is written.
#
#     boot.sh CHECKOUT NODE CGROUP
#
# CHECKOUT is at /opt/checkout of the machine, and the program NODE at /usr/local/bin/node, both read-only. CGROUP is the
# control group, below the root of version 2, that holds its processes: the caller removes it. Runs as root, in mount,
# process, IPC, host name and network namespaces of its own.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
checkout=$1 node=$2 cgroup=$3

# The control groups of version 2, of which the machine sees its own part alone.
if [ "${4-}" != entered ]; then
  mount -t tmpfs -o mode=755 tmpfs /mnt
  mkdir /mnt/cgroup /mnt/root
  mount -t cgroup2 cgroup2 /mnt/cgroup
  mkdir -p "/mnt/cgroup/$cgroup"
  echo 0 > "/mnt/cgroup/$cgroup/cgroup.procs"
  umount /mnt/cgroup
  exec unshare --cgroup "$0" "$checkout" "$node" "$cgroup" entered
fi

root=/mnt/root
mount -t tmpfs -o mode=755,size=1g tmpfs "$root"
cd "$root"
mkdir dev etc home mnt opt proc root run srv sys tmp usr var var/log var/lib
chmod 1777 tmp
for folder in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$folder" ]; then
    cp -P "/$folder" .
  elif [ -d "/$folder" ]; then
    mkdir "$folder"
    mount --bind -o ro "/$folder" "$folder"
  fi
done
mount --bind -o ro /usr usr
# For what the operator installs.
mount -t tmpfs -o mode=755 tmpfs usr/local
mkdir usr/local/bin usr/local/sbin opt/checkout
: > usr/local/bin/node
mount --bind -o ro "$node" usr/local/bin/node
mount --bind -o ro "$checkout" opt/checkout

# Users, without those of a service that runs here, and what their programs read.
for file in passwd group shadow gshadow subuid subgid; do
  if [ -e "/etc/$file" ]; then sed '/^toolcrib:/d' "/etc/$file" > "etc/$file"; fi
done
chmod 640 etc/shadow etc/gshadow
for name in alternatives debian_version default ld.so.cache ld.so.conf ld.so.conf.d localtime login.defs nsswitch.conf \
  os-release pam.conf pam.d security shells ssl sudoers sudoers.d; do
  if [ -e "/etc/$name" ]; then cp -a "/etc/$name" etc/; fi
done
mkdir -p etc/systemd/system
# With an id, this is not the first start of a machine, at which systemd enables all services that it finds.
echo 0123456789abcdef0123456789abcdef > etc/machine-id
echo machine > etc/hostname
echo '127.0.0.1 localhost machine' > etc/hosts
: > etc/fstab
hostname machine
# Units that would wait for hardware or a bus, and all that write settings of the kernel, which is that of this machine, too.
for unit in systemd-logind.service getty.target getty-static.service console-getty.service dbus.service dbus.socket \
  systemd-udevd.service systemd-update-utmp.service systemd-update-utmp-runlevel.service systemd-sysctl.service \
  systemd-binfmt.service systemd-modules-load.service kmod-static-nodes.service systemd-journald-audit.socket \
  proc-sys-fs-binfmt_misc.automount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount \
  sys-fs-fuse-connections.mount systemd-random-seed.service; do
  ln -s /dev/null "etc/systemd/system/$unit"
done

mount -t proc -o nosuid,nodev,noexec proc proc
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755,nosuid tmpfs run
mount -t tmpfs -o mode=755,nosuid tmpfs dev
for device in null zero full random urandom tty; do
  : > "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr

mkdir mnt/old
pivot_root . mnt/old
cd /
umount -l /mnt/old
# As systemd expects of what starts a container. It is shared among namespaces of the machine only.
mount --make-rshared /
echo 'The machine boots'
exec env -i container=toolcrib-test PATH=/usr/local/sbin:/usr/local/bin:$PATH \
  /lib/systemd/systemd --unit=multi-user.target --log-target=journal --show-status=no --log-level=info
