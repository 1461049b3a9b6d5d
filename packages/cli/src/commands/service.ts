/** `toolcrib service`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { wholeNumber } from "../option-values.ts";

const load = () => import("../service/manage-service.ts");

const name = { value: "name", default: "toolcrib", help: "name of the service" } as const;

export const command: CliCommandGroup = {
  name: "service",
  summary: "run the gateway as a service of your systemd",
  commands: [
    defineCommand({
      name: "install",
      summary: "write the unit of the service, and start it with each session",
      options: {
        name,
        listen: { value: "host:port", help: "address to listen on (default: that of the configuration)" },
        dryRun: { help: "print the unit, and write nothing" },
        start: { isNegated: true, default: true, help: "do not start it now" },
        force: { help: "replace a unit of this name that another program wrote" },
      },
      examples: ["toolcrib service install --dry-run", "toolcrib service install"],
      run: async (context, _args, options) => (await load()).installService(context, options),
    }),
    defineCommand({
      name: "status",
      summary:
        "show whether the service runs (exit code 5 if not, 4 if it is not installed), and its gateway",
      options: { name },
      run: async (context, _args, options) => (await load()).serviceStatus(context, options),
    }),
    defineCommand({
      name: "logs",
      summary: "show the journal of the service",
      options: {
        name,
        follow: { short: "f", help: "continue with new lines until Ctrl-C" },
        lines: {
          short: "n",
          value: "count",
          parse: wholeNumber(1, 100_000),
          help: "lines to show (default: 100)",
        },
      },
      run: async (context, _args, options) => (await load()).serviceLogs(context, options),
    }),
    defineCommand({
      name: "uninstall",
      summary: "stop the service and remove its unit",
      options: { name },
      run: async (context, _args, options) => (await load()).uninstallService(context, options),
    }),
  ],
};
