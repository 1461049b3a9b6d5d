/** `toolcrib add` and `toolcrib catalog` with their arguments and options; what they do is in `commands/`. */

import { type Command, InvalidArgumentError } from "commander";
import type { RunCommand } from "../command-context.ts";
import type { AddFlags } from "../commands/add.ts";

/** Add the verb `add` to `program`. */
export function addAddCommand(program: Command, run: RunCommand): void {
  program
    .command("add")
    .description("add a REST API of the catalogue to the configuration, and keep its secret")
    .argument("[name]", "its name, as NAME@VERSION for another than the newest, or words that find it")
    .option("--list", "list what there is to add")
    .option("--id <id>", "what to call it here: the first half of the names of its tools (default: its name)")
    .option(
      "--secret <credential=name>",
      "use the secret that is kept under this name; repeatable. Without it the secret is asked for, or read from standard input",
      collectPair("credential=name"),
    )
    .option("--without-secrets", "leave the secrets for later")
    .option(
      "--variable <name=value>",
      "a variable of its base URL, such as the name of a tenant; repeatable",
      collectPair("name=value"),
    )
    .option("--all-tools", "offer every tool (default: those that change nothing dear, as its manifest says)")
    .option("-y, --yes", "ask for nothing but secrets")
    .action((name: string | undefined, flags: AddFlags & { readonly list?: boolean }, command: Command) =>
      run(command, async (context) =>
        flags.list === true
          ? (await import("../commands/catalog.ts")).listCatalog(context)
          : (await import("../commands/add.ts")).addToolspec(context, name, flags),
      ),
    );
}

/** Add the verb `catalog` to `program`. */
export function addCatalogCommands(program: Command, run: RunCommand): void {
  const catalog = program.command("catalog").description("look through the REST APIs that can be added");
  const load = () => import("../commands/catalog.ts");
  catalog
    .command("list")
    .description("list them")
    .option("--category <category>", "only those of this category")
    .action((flags: { readonly category?: string }, command: Command) =>
      run(command, async (context) => (await load()).listCatalog(context, flags)),
    );
  catalog
    .command("search")
    .description("find them by what they do, best first")
    .argument("<words...>", "what the API should do")
    .action((words: string[], _flags, command: Command) =>
      run(command, async (context) => (await load()).searchCatalog(context, words.join(" "))),
    );
  catalog
    .command("show")
    .description("show one: hosts, credentials, tools, and what to write into the configuration")
    .argument("<name>", "its name, or NAME@VERSION")
    .action((name: string, _flags, command: Command) =>
      run(command, async (context) => (await load()).showCatalogEntry(context, name)),
    );
}

/** Collects `NAME=VALUE`. */
function collectPair(form: string) {
  return (text: string, before: readonly (readonly [string, string])[] = []) => {
    const at = text.indexOf("=");
    if (at < 1 || at === text.length - 1) throw new InvalidArgumentError(`It is written ${form}.`);
    return [...before, [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const];
  };
}
