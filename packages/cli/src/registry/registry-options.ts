/** Options of commands that read registries of packages. */

import type { CliOptions } from "../cli-command.ts";
import { duration } from "../option-values.ts";

/** Settings for reading registries. */
export const readingOptions = {
  offline: { help: "use the copies of the indexes in the home" },
  timeout: {
    value: "time",
    parse: duration,
    help: "longest time for one file of a registry, such as 10s (default: 30s, 5m for a package)",
  },
} as const satisfies CliOptions;

/** Options that choose the registries, and how they are read. */
export const registryOptions = {
  registry: {
    value: "registry",
    isRepeatable: true,
    help: "a name of the configuration, a URL or a folder; repeatable (default: all of the configuration)",
  },
  ...readingOptions,
} as const satisfies CliOptions;
