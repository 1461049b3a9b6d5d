/**
 * The commands, in the order of the help. Each is one file below `commands/`,
 * and a line here. A run loads the file of its own command; help, shell
 * completion and usage errors load all of them.
 */

import type { CliCommand, CliCommandGroup, CommandSection } from "./cli-command.ts";
import { longFlag } from "./cli-command.ts";
import { globalOptions } from "./global-options.ts";

type LoadCommand = () => Promise<{ readonly command: CliCommand | CliCommandGroup }>;

const sections: readonly {
  readonly title: string;
  readonly commands: { readonly [name: string]: LoadCommand };
}[] = [
  {
    title: "Set up",
    commands: {
      import: () => import("./commands/import.ts"),
      init: () => import("./commands/init.ts"),
      add: () => import("./commands/add.ts"),
      remove: () => import("./commands/remove.ts"),
      catalog: () => import("./commands/catalog.ts"),
      config: () => import("./commands/config.ts"),
      secret: () => import("./commands/secret.ts"),
      login: () => import("./commands/login.ts"),
      logout: () => import("./commands/logout.ts"),
      token: () => import("./commands/token.ts"),
      connect: () => import("./commands/connect.ts"),
      disconnect: () => import("./commands/disconnect.ts"),
      doctor: () => import("./commands/doctor.ts"),
    },
  },
  {
    title: "Serve",
    commands: {
      serve: () => import("./commands/serve.ts"),
      bridge: () => import("./commands/bridge.ts"),
      service: () => import("./commands/service.ts"),
      metatool: () => import("./commands/metatool.ts"),
      toolpack: () => import("./commands/toolpack.ts"),
      egress: () => import("./commands/egress.ts"),
      sandbox: () => import("./commands/sandbox.ts"),
      fetched: () => import("./commands/fetched.ts"),
      status: () => import("./commands/status.ts"),
      reload: () => import("./commands/reload.ts"),
      top: () => import("./commands/top.ts"),
      logs: () => import("./commands/logs.ts"),
      approve: () => import("./commands/approve.ts"),
      enable: () => import("./commands/enable.ts"),
      disable: () => import("./commands/disable.ts"),
      pause: () => import("./commands/pause.ts"),
      resume: () => import("./commands/resume.ts"),
      release: () => import("./commands/release.ts"),
    },
  },
  {
    title: "Use tools",
    commands: {
      list: () => import("./commands/list.ts"),
      search: () => import("./commands/search.ts"),
      describe: () => import("./commands/describe.ts"),
      call: () => import("./commands/call.ts"),
    },
  },
  {
    title: "Compose tools",
    commands: {
      eval: () => import("./commands/eval.ts"),
      save: () => import("./commands/save.ts"),
      saved: () => import("./commands/saved.ts"),
    },
  },
  {
    title: "Write programs",
    commands: {
      starlark: () => import("./commands/starlark.ts"),
    },
  },
  {
    title: "Describe APIs",
    commands: {
      toolspec: () => import("./commands/toolspec.ts"),
      "lint-toolspecs": () => import("./commands/lint-toolspecs.ts"),
      "lint-manifests": () => import("./commands/lint-manifests.ts"),
    },
  },
  {
    title: "Package tools",
    commands: {
      pack: () => import("./commands/pack.ts"),
      validate: () => import("./commands/validate.ts"),
      test: () => import("./commands/test.ts"),
      info: () => import("./commands/info.ts"),
      rank: () => import("./commands/rank.ts"),
      regressions: () => import("./commands/regressions.ts"),
      chains: () => import("./commands/chains.ts"),
      sign: () => import("./commands/sign.ts"),
      verify: () => import("./commands/verify.ts"),
      export: () => import("./commands/export.ts"),
      publish: () => import("./commands/publish.ts"),
      registry: () => import("./commands/registry.ts"),
      install: () => import("./commands/install.ts"),
      uninstall: () => import("./commands/uninstall.ts"),
      outdated: () => import("./commands/outdated.ts"),
      update: () => import("./commands/update.ts"),
      lock: () => import("./commands/lock.ts"),
    },
  },
  {
    title: "Inspect calls",
    commands: {
      why: () => import("./commands/why.ts"),
      policy: () => import("./commands/policy.ts"),
      labels: () => import("./commands/labels.ts"),
      trace: () => import("./commands/trace.ts"),
      audit: () => import("./commands/audit.ts"),
    },
  },
  {
    title: "Help",
    commands: {
      help: () => import("./commands/help.ts"),
      explain: () => import("./commands/explain.ts"),
      completion: () => import("./commands/completion.ts"),
    },
  },
];

/** Loads the definition of every command. */
export function loadCommands(): Promise<readonly CommandSection[]> {
  return loadWhere(() => true);
}

/** Loads the definition of the command that `args` name; of every command if they name none. */
export async function loadCommandOf(args: readonly string[]): Promise<readonly CommandSection[]> {
  const wanted = commandNameOf(args);
  const isKnown = wanted !== undefined && sections.some(({ commands }) => Object.hasOwn(commands, wanted));
  return isKnown ? loadWhere((name) => name === wanted) : loadCommands();
}

/** Loads what runs where `args` name no command. */
export async function loadDefault(args: readonly string[]): Promise<CliCommand | undefined> {
  if (commandNameOf(args) !== undefined) return undefined;
  return (await import("./commands/first-run.ts")).command;
}

async function loadWhere(isWanted: (name: string) => boolean): Promise<readonly CommandSection[]> {
  const loaded = await Promise.all(
    sections.map(async ({ title, commands }) => {
      const wanted = Object.entries(commands).filter(([name]) => isWanted(name));
      const modules = await Promise.all(wanted.map(([, load]) => load()));
      return { title, commands: modules.map(({ command }) => command) };
    }),
  );
  return loaded.filter(({ commands }) => commands.length > 0);
}

/** Global flags that take the next word as their value. */
const valueFlags: ReadonlySet<string> = new Set(
  Object.entries(globalOptions).flatMap(([name, option]) => [
    ...("value" in option ? [longFlag(name, option)] : []),
    ...("value" in option && "short" in option ? [`-${option.short}`] : []),
  ]),
);

/** The first word of `args` that is neither a flag nor the value of a global flag. */
function commandNameOf(args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (!word.startsWith("-")) return word;
    if (valueFlags.has(word)) at += 1;
  }
  return undefined;
}
