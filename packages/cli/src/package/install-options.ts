/** Options that the commands for installed packages share. Definitions only. */

import type { CliOptions } from "../cli-command.ts";

/** Where packages are installed. */
export const placeOptions = {
  user: {
    help: "for all projects of the user, in the home, instead of .mcp/tools of this folder, or of that of --config",
  },
} as const satisfies CliOptions;

/** Options that allow packages that are refused without them. */
export const allowOptions = {
  allowUnsigned: { help: "allow packages from a URL or a registry that are not signed" },
  allowStrippedSignature: { help: "allow an unsigned package in place of a signed one" },
  allowKey: {
    value: "id",
    isRepeatable: true,
    help: "allow this key in place of the one that is pinned for the tool; repeatable",
  },
  allowDowngrade: { help: "allow versions that are older than the installed or the locked ones" },
  allowChangedRelease: { help: "allow other content under the installed or the locked version" },
  allowReplacingFolder: { help: "remove what lies in the place of a package and was not installed" },
  allowTool: {
    value: "id",
    isRepeatable: true,
    help: "approve that the program of a package calls this tool, such as github:search; repeatable",
  },
  allowLoopback: { help: "allow http:// URLs of servers of this machine" },
} as const satisfies CliOptions;
