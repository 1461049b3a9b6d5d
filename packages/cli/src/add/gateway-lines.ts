/** Says how a running gateway treats a configuration file that a command changed. Only reads. */

import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { shortPath } from "../config/find-config-files.ts";
import { safeLine } from "../output/output.ts";
import type { ConfigFile } from "../toolspec/config-file.ts";

/** Says how a running gateway gets to know a changed configuration: it watches the files that it was started with. */
export function gatewayLines(context: CliContext, { path }: Pick<ConfigFile, "path">): readonly string[] {
  const { home } = context.options;
  const running = findRunningGateways(home);
  const [other] = running;
  if (other === undefined) return [];
  if (running.some(({ configFiles }) => configFiles.includes(path)))
    return ["a gateway is running: it takes the change over within a second"];
  const read = other.configFiles.map((file) => safeLine(shortPath(file, context.directory))).join(", ");
  return [
    `${context.output.style("yellow", "!")} a gateway is running with ${read === "" ? "no file" : read}: it does not read ${safeLine(shortPath(path, context.directory))}`,
  ];
}
