/**
 * The shell script of the `unshare` tier. Its text is constant: paths, ids and
 * the program come as arguments. It runs as process 1 of new namespaces, as the
 * root of the namespace that owns the mounts.
 *
 * 1. It builds the file system in memory from two tables of mounts and a folder
 *    with the empty targets, and makes it the root.
 * 2. It gives up the user id where the gateway runs as root, and forbids further
 *    user namespaces: they would give new rights over a part of the kernel.
 * 3. It gives up every capability, sets the limits, and starts the program below
 *    a shell that collects orphaned processes.
 *
 * Every command of it is a process that has to be started, so it has few of them:
 * the root becomes read-only by a last bind of the same table, for example.
 *
 * Arguments: the folder of the start; the user id and group id of the program;
 * `drop`, `keep` or `same`; `deny`, `scoped` or `allow`; the path of `ip`, or `-`;
 * the command that sets the limits; the program with its arguments.
 */

import { loopbackLine, networkLines } from "./scoped-network.ts";

/**
 * Process 1: starts the program with its own PATH and ends with its exit code. A shell gives a background process
 * `/dev/null` as its input, hence the detour over descriptor 9; 3 is that of the channel of a scoped network.
 */
const init = 'PATH=$1; export PATH; shift; exec 9<&0 </dev/null; "$@" <&9 9<&- & exec 9<&- 3<&-; wait $!';

/** Allows one more user namespace, the one that the next command creates, and none after it. */
const lastNamespace = 'echo 1 > /proc/sys/user/max_user_namespaces && exec "$@"';

export const unshareScript = `set -eu
say() { echo "toolcrib sandbox: $1" >&2; exit 125; }
d=$1 uid=$2 gid=$3 user=$4 network=$5 ip=$6; shift 6
if [ "$ip" != - ]; then case $network in
scoped)
${networkLines}
;;
deny) ${loopbackLine} ;;
esac; fi
mount --all --fstab "$d/first" || say "cannot mount folders in memory"
(umask 022; exec cp -dR "$d/template/." "$d/root") || say "cannot create the root folder"
mount --all --fstab "$d/second" || say "cannot bind the folders of the program"
cd "$d/final"
pivot_root . .old || say "cannot change the root"
cd /
umount -l /.old || say "cannot leave the file system of the host"
set -- unshare --user --map-user="$uid" --map-group="$gid" --keep-caps \\
  setpriv --no-new-privs --ambient-caps=-all --inh-caps=-all --bounding-set=-all -- "$@"
case $user in
same) echo 1 > /proc/sys/user/max_user_namespaces ;;
*) set -- /bin/sh -c '${lastNamespace}' sh "$@" ;;
esac
case $user in
drop) set -- setpriv --reuid "$uid" --regid "$gid" --clear-groups unshare --user --map-root-user "$@" ;;
keep) set -- setpriv --clear-groups unshare --user --map-root-user "$@" ;;
esac
cd "$TOOLCRIB_SANDBOX_DIRECTORY"
unset TOOLCRIB_SANDBOX_DIRECTORY
exec "$@"
`;

/** The words that come before the program: the limits, then process 1. @param searchPath PATH of the program */
export function startWords(limits: readonly string[], searchPath: string): readonly string[] {
  return ["prlimit", ...limits, "--", "/bin/sh", "-c", init, "init", searchPath];
}
