/**
 * The network namespace of a program with a scoped network, prepared before its
 * sandbox is built: its loopback device is up, addresses of its own lead there,
 * and low ports need no privilege. The sandbox then belongs to a user namespace
 * below the one that owns the network, so that nothing in it can change that.
 */

import { ownAddresses } from "./network-exit.ts";

/** The line of a shell that brings the loopback device of the current namespace up; `$ip` is the path of `ip`. */
export const loopbackLine = '"$ip" link set lo up || :';

/** Lines of a shell that prepare a scoped network in the current namespace. */
export const networkLines = `${loopbackLine}
"$ip" route add local ${ownAddresses.first}/${ownAddresses.bits} dev lo || :
{ echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start; } 2>/dev/null || :`;

/** Arguments: the path of `ip`; the program with its arguments. */
const script = `ip=$1; shift
${networkLines}
exec "$@"`;

/** Returns the words before a program that give it a prepared network. @param ip the path of `ip` */
export function networkWords(unshare: string, ip: string): readonly string[] {
  return [unshare, "--user", "--map-root-user", "--net", "/bin/sh", "-c", script, "network", ip];
}
