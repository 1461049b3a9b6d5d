/**
 * The systemd unit of a gateway as text. Pure.
 *
 * The hardening leaves what the containment of servers needs, measured with systemd 252 and a sandbox of namespaces
 * as an ordinary user:
 *
 * - `RestrictNamespaces=`, `ProtectKernelTunables=`, `ProtectKernelLogs=` (they cover parts of /proc, so that no
 *   sandbox can mount its own), `SystemCallFilter=@system-service` (without mount) and `RestrictAddressFamilies=` without
 *   AF_NETLINK (the loopback device of a sandbox) break sandboxes and are not used.
 * - `ProtectSystem=`, `ProtectHome=`, `PrivateTmp=` and others that mount something are not used: for a unit of a user they
 *   need a user namespace around the gateway (`PrivateUsers=`), in which files of other owners have no owner. What
 *   servers see is up to their containment.
 * - `MemoryDenyWriteExecute=` ends Node, which compiles JavaScript. `CapabilityBoundingSet=` needs a privilege; a user has
 *   no capabilities that it could take away.
 */

/** Facts about the program that the unit starts. */
export interface UnitFacts {
  /** Program and arguments; the program as an absolute path. */
  readonly command: readonly string[];
  /** Folder in which the gateway runs. */
  readonly directory: string;
  /** PATH by which servers find their programs. */
  readonly path: string;
  /** File with variables, such as secrets that `secret_key_ref: { env: … }` names. It need not exist. */
  readonly environmentFile: string;
  /** Version of this program. */
  readonly version: string;
}

/** The first line of a unit that this program wrote. */
export const unitHeader = "# Written by toolcrib service install";

/** Returns the unit, or a path or argument that no unit can contain. */
export function unitText(facts: UnitFacts): { readonly text: string } | { readonly unusable: string } {
  const { command, directory, path, environmentFile, version } = facts;
  const unusable = [...command, directory, path, environmentFile].find((one) => /[\n\r\0]/.test(one));
  if (unusable !== undefined) return { unusable };
  const text = `${unitHeader} (${version}). Settings of your own belong into a drop-in: systemctl --user edit
[Unit]
Description=Toolcrib, the MCP gateway
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${command.map(commandWord).join(" ")}
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory=${withoutEnd(specifiers(directory))}
Environment=${quoted(`PATH=${path}`)}
EnvironmentFile=-${specifiers(globbed(environmentFile))}
Restart=on-failure
RestartSec=2
# A configuration with errors does not get better by itself.
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=20

# Sandboxes of servers get control groups of their own below that of the unit.
Delegate=yes
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=~@obsolete @cpu-emulation @module @raw-io @reboot @swap
SystemCallErrorNumber=EPERM

[Install]
WantedBy=default.target
`;
  return { text };
}

/** A word of a command: quoted, without specifiers (%) and variables ($). */
function commandWord(word: string): string {
  return quoted(word.replaceAll("$", "$$$$"));
}

function quoted(text: string): string {
  const escaped = specifiers(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

function specifiers(text: string): string {
  return text.replaceAll("%", "%%");
}

/** A folder whose last character is not taken for a line that continues or for space after the value. */
function withoutEnd(folder: string): string {
  return /[\\\s]$/.test(folder) ? `${folder}/` : folder;
}

/** The pattern that matches this path alone: systemd takes the path of a file with variables for a pattern. */
function globbed(path: string): string {
  return path.replaceAll(/[\\*?[]/g, "\\$&");
}
