/**
 * Builds the environment of a launched process: the few inherited variables that
 * a program needs to run, the variables that its launch declares, and the two
 * markers that identify all of its descendants. No other variable of the
 * gateway is inherited, because its environment holds the secrets of other servers.
 */

import { ProcessError } from "./process-error.ts";

/** Environment variables by name; a name without a value counts as absent. */
export type Env = { readonly [name: string]: string | undefined };

/** Marks every process of one gateway: the gateway's random id. */
export const instanceMarker = "TOOLCRIB_INSTANCE";
/** Marks every process of one launch: the gateway's id, a slash, and the number of the launch. */
export const serverMarker = "TOOLCRIB_SERVER";

const inheritedNames = ["PATH", "HOME", "LANG", "TMPDIR"];

/** Without these, programs on Windows do not find their libraries, shell, profile or temporary folder. */
const inheritedNamesOnWindows = [
  ...["PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP", "LANG"],
  ...["USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES"],
  ...["PROGRAMFILES(X86)", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS"],
];

/** The PATH for a gateway that was started without one. */
const pathDefault = "/usr/local/bin:/usr/bin:/bin";

/**
 * Returns the complete environment of one process, the markers first.
 *
 * @throws {ProcessError} `PROCESS_LAUNCH_INVALID` for a name or value that an environment cannot
 *   contain, and for the name of a marker. The message never shows a value.
 */
export function toChildEnv(
  inherited: Env,
  declared: Env,
  markers: { readonly instance: string; readonly server: string },
  platform: NodeJS.Platform,
): Record<string, string> {
  const result: Record<string, string> = {
    [instanceMarker]: markers.instance,
    [serverMarker]: markers.server,
  };
  const declaredEntries = Object.entries(declared).filter(([, value]) => value !== undefined);
  for (const [name, value] of declaredEntries) checkVariable(name, value!);

  const isWindows = platform === "win32";
  const fold = (name: string): string => (isWindows ? name.toUpperCase() : name);
  const declaredNames = new Set(declaredEntries.map(([name]) => fold(name)));
  const wanted = new Set(isWindows ? inheritedNamesOnWindows : inheritedNames);
  for (const [name, value] of Object.entries(inherited)) {
    if (value === undefined || !wanted.has(fold(name)) || declaredNames.has(fold(name))) continue;
    checkVariable(name, value);
    result[name] = value;
  }
  if (!isWindows && result.PATH === undefined && !declaredNames.has("PATH")) result.PATH = pathDefault;
  for (const [name, value] of declaredEntries) result[name] = value!;
  return result;
}

function checkVariable(name: string, value: string): void {
  if (name === "" || /[=\0]/.test(name)) {
    throw new ProcessError(
      "PROCESS_LAUNCH_INVALID",
      `Cannot set environment variable ${JSON.stringify(name)}: a name is not empty and has neither "=" nor NUL`,
    );
  }
  if (value.includes("\0")) {
    throw new ProcessError(
      "PROCESS_LAUNCH_INVALID",
      `Cannot set environment variable "${name}": its value contains NUL`,
    );
  }
  if (name.toUpperCase() === instanceMarker || name.toUpperCase() === serverMarker) {
    throw new ProcessError(
      "PROCESS_LAUNCH_INVALID",
      `Cannot set environment variable "${name}": the name is reserved`,
      { hint: "remove it from env; the gateway recognises its processes by it" },
    );
  }
}
