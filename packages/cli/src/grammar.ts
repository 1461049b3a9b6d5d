/**
 * Every verb with its arguments and options. What a verb does is in its file
 * below `commands/`, which is loaded when it is run: help and wrong usage need
 * no gateway.
 */

import { type Command, InvalidArgumentError, Option } from "commander";
import { type AuditFlags, auditOutcomes, parseAuditLimit, parseSince } from "./audit/audit-filter.ts";
import type { RunCommand } from "./command-context.ts";
import type { CallFlags } from "./commands/call.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import type { EvalFlags } from "./commands/eval.ts";
import { addHelpCommand } from "./commands/help.ts";
import type { InitFlags } from "./commands/init.ts";
import type { LintManifestsFlags } from "./commands/lint-catalog.ts";
import type { ListFlags } from "./commands/list.ts";
import type { SaveFlags } from "./commands/save.ts";
import type { ExportFlags, ImportFlags } from "./commands/saved-exchange.ts";
import type { SavedRunFlags } from "./commands/saved-run.ts";
import type { SavedTestFlags } from "./commands/saved-test.ts";
import type { ServeFlags } from "./commands/serve.ts";
import type { FormatFlags } from "./commands/starlark-format.ts";
import type { ReplFlags } from "./commands/starlark-repl.ts";
import type { RunFlags } from "./commands/starlark-run.ts";
import type { ToolpackFlags } from "./commands/toolpack.ts";
import { addEgressCommand } from "./egress/egress-grammar.ts";
import { addImportCommands, addToolspecCommands } from "./openapi/import-grammar.ts";
import { addSecretCommands } from "./secret/secret-grammar.ts";
import { addAddCommand, addCatalogCommands } from "./toolspec/toolspec-grammar.ts";

/** Add all verbs to `program`, in the order of the help. */
export function addCommands(program: Command, run: RunCommand): void {
  program.commandsGroup("Set up:");
  addInit(program, run);
  addAddCommand(program, run);
  addCatalogCommands(program, run);
  addConfig(program, run);
  addSecretCommands(program, run);
  addDoctor(program, run);
  program.commandsGroup("Serve:");
  addServe(program, run);
  addMetatool(program, run);
  addToolpack(program, run);
  addEgressCommand(program, run);
  addStatus(program, run);
  program.commandsGroup("Use tools:");
  addList(program, run);
  addSearch(program, run);
  addDescribe(program, run);
  addCall(program, run);
  program.commandsGroup("Compose tools:");
  addEval(program, run);
  addSave(program, run);
  addSaved(program, run);
  program.commandsGroup("Write programs:");
  addStarlark(program, run);
  program.commandsGroup("Describe APIs:");
  addImportCommands(program, run);
  addToolspecCommands(program, run);
  addLintToolspecs(program, run);
  addLintManifests(program, run);
  program.commandsGroup("Look back:");
  addAudit(program, run);
  program.commandsGroup("Help:");
  addHelpCommand(program, run);
  addCompletionCommand(program, run);
}

function addInit(program: Command, run: RunCommand): void {
  program
    .command("init")
    .description("write a toolcrib.yaml to start from")
    .argument("[dir]", "folder to write it in", ".")
    .option(
      "--import <file>",
      "take over the servers of another program's file (.mcp.json, VS Code, Claude, Cursor); repeatable",
      collect,
    )
    .option("--force", "overwrite a toolcrib.yaml that is there")
    .action((directory: string, flags: InitFlags, command: Command) =>
      run(command, async (context) => (await import("./commands/init.ts")).init(context, directory, flags)),
    );
}

function addConfig(program: Command, run: RunCommand): void {
  const config = program.command("config").description("check the configuration, or print its JSON Schema");
  config
    .command("check")
    .description("print OK for each sound file, or every problem with its place (exit code 2)")
    .argument("[files...]", "files that compose left to right (default: the configuration of this folder)")
    .action((files: string[], _flags, command: Command) =>
      run(command, async (context) => (await import("./commands/config.ts")).checkConfig(context, files)),
    );
  config
    .command("schema")
    .description("print the JSON Schema of toolcrib.yaml")
    .action((_flags, command: Command) =>
      run(command, async (context) => (await import("./commands/config.ts")).printSchema(context)),
    );
}

function addDoctor(program: Command, run: RunCommand): void {
  program
    .command("doctor")
    .description("look for what keeps Toolcrib from working, and say how to mend it (exit code 1)")
    .action((_flags, command: Command) =>
      run(command, async (context) => (await import("./commands/doctor.ts")).doctor(context)),
    );
}

function addServe(program: Command, run: RunCommand): void {
  const auth = new Option("--auth <kind>", "how clients prove who they are (default: token)");
  const mode = new Option(
    "--mode <mode>",
    "which tools clients are listed: all, a few that find the others, or by number",
  );
  program
    .command("serve")
    .description("serve the configured tools on one MCP endpoint")
    .option("--stdio", "speak MCP on standard input and output, for a client that starts this command")
    .option(
      "-l, --listen <host:port>",
      "address to listen on; port 0 takes a free one (default: 127.0.0.1:7420)",
    )
    .addOption(auth.choices(["token", "none"]))
    .addOption(mode.choices(["full", "search", "auto"]))
    .option("-q, --quiet", "print nothing on standard output; the token is not shown then")
    .action((flags: ServeFlags, command: Command) =>
      run(command, async (context) => (await import("./commands/serve.ts")).serve(context, flags)),
    );
}

/** Name of the metatool's home, as its document has it. */
const metatoolHome = ".mcp-metatool";

function addMetatool(program: Command, run: RunCommand): void {
  program
    .command("metatool")
    .description(
      "serve upstreamServers and composite tools on standard input and output, as mcp-metatool (home: ~/.mcp-metatool)",
    )
    .action((_flags, command: Command) =>
      run(
        command,
        async (context) => (await import("./commands/metatool.ts")).metatool(context),
        metatoolHome,
      ),
    );
}

function addToolpack(program: Command, run: RunCommand): void {
  program
    .command("toolpack")
    .description("serve the tools of one toolspec on standard input and output, by themselves")
    .option("--manifest <file>", "the manifest (default: /app/manifest.yaml)")
    .option("--toolspec <file>", "the toolspec (default: /app/toolspec.yaml)")
    .option(
      "--secret <id=name>",
      "the secret of a credential, by its name as with secret_key_ref; repeatable (default: SERVICE-ID)",
      collect,
    )
    .option("--variable <name=value>", "a variable of base URLs; repeatable", collect)
    .option("--reserved <tool.parameter>", "a path parameter whose slashes are kept; repeatable", collect)
    .action((flags: ToolpackFlags, command: Command) =>
      run(command, async (context) => (await import("./commands/toolpack.ts")).toolpack(context, flags)),
    );
}

function addLintToolspecs(program: Command, run: RunCommand): void {
  program
    .command("lint-toolspecs")
    .description("check toolspecs and their manifests, and show every problem with its place (exit code 1)")
    .argument("<path>", "a folder with manifests and toolspecs, or one toolspec")
    .action((path: string, _flags, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/lint-catalog.ts")).lintToolspecs(context, path),
      ),
    );
}

function addLintManifests(program: Command, run: RunCommand): void {
  program
    .command("lint-manifests")
    .description("check manifests, and show every problem with its place (exit code 1)")
    .argument("<path>", "a folder with manifests, or one manifest")
    .option("--denylist <file>", "names that no egress list may hold, one a line")
    .action((path: string, flags: LintManifestsFlags, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/lint-catalog.ts")).lintManifests(context, path, flags),
      ),
    );
}

function addStatus(program: Command, run: RunCommand): void {
  program
    .command("status")
    .description("show the gateway that runs for this home, or what would be served (exit code 5)")
    .action((_flags, command: Command) =>
      run(command, async (context) => (await import("./commands/status.ts")).showStatus(context)),
    );
}

function addList(program: Command, run: RunCommand): void {
  program
    .command("list")
    .description("list the tools that may be used")
    .option("-s, --server <id>", "only the tools of this server")
    .option("-t, --tag <tag>", "only tools with this tag", toTag)
    .action((flags: ListFlags, command: Command) =>
      run(command, async (context) => (await import("./commands/list.ts")).listTools(context, flags)),
    );
}

function toTag(text: string): string {
  const tag = text.trim().toLowerCase().replace(/\s+/g, "-");
  if (tag === "") throw new InvalidArgumentError("A tag has at least one character.");
  return tag;
}

/** Most results of a search; the limit of `search_tools` too. */
const searchMaxResults = 50;

function addSearch(program: Command, run: RunCommand): void {
  program
    .command("search")
    .description("find tools by what they do, best first")
    .argument("<words...>", "what the tool should do")
    .option("-n, --limit <count>", `most results, 1 to ${searchMaxResults}`, toSearchLimit, 10)
    .action((words: string[], flags: { limit: number }, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/search.ts")).searchTools(context, words.join(" "), flags.limit),
      ),
    );
}

function toSearchLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= searchMaxResults) return limit;
  throw new InvalidArgumentError(`It is a whole number from 1 to ${searchMaxResults}.`);
}

function addDescribe(program: Command, run: RunCommand): void {
  program
    .command("describe")
    .description("show a tool: its description, its arguments, its annotations")
    .argument("<tool>", "server__tool or server:tool")
    .action((name: string, _flags, command: Command) =>
      run(command, async (context) => (await import("./commands/describe.ts")).describeTool(context, name)),
    );
}

function addCall(program: Command, run: RunCommand): void {
  program
    .command("call")
    .description("call a tool and print its result")
    .argument("<tool>", "server__tool or server:tool")
    .argument("[arguments]", "a JSON object, or - to read one from standard input (default: {})")
    .option(
      "-a, --arg <name=value>",
      "one argument, in place of JSON; repeatable. A value is a text where the tool takes one, else JSON",
      collect,
    )
    .option("--timeout <seconds>", "give up after this long (exit code 5)", toSeconds)
    .action((name: string, text: string | undefined, flags: CallFlags, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/call.ts")).callTool(context, name, text, flags),
      ),
    );
}

/** Longest `--timeout`: a day. */
const timeoutMaxSeconds = 86_400;

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= timeoutMaxSeconds) return seconds;
  throw new InvalidArgumentError(`It is a number of seconds up to ${timeoutMaxSeconds}.`);
}

function addEval(program: Command, run: RunCommand): void {
  program
    .command("eval")
    .description("run a composite program once, with the tools, and print what it returns")
    .argument("<file>", "the Starlark program, or - to read it from standard input")
    .option(
      "-p, --param <name=value>",
      "one entry of the program's params; repeatable. A value is JSON where it can be, else a text",
      collect,
    )
    .option("--params <json>", "params as a JSON object, or - to read it from standard input")
    .action((file: string, flags: EvalFlags, command: Command) =>
      run(command, async (context) => (await import("./commands/eval.ts")).evaluate(context, file, flags)),
    );
}

function addSave(program: Command, run: RunCommand): void {
  program
    .command("save")
    .description("save a composite program as a tool, or show every problem with it (exit code 1)")
    .argument("<file>", "the Starlark program, or - to read it from standard input")
    .option("--name <name>", "name of the tool (default: that of the file)")
    .option("--description <text>", "what the tool does (default: the comment that the program begins with)")
    .option("--schema <file>", "JSON Schema of its parameters (default: the one it had, else no parameters)")
    .action((file: string, flags: SaveFlags, command: Command) =>
      run(command, async (context) => (await import("./commands/save.ts")).saveTool(context, file, flags)),
    );
}

function addSaved(program: Command, run: RunCommand): void {
  const saved = program.command("saved").description("list, show, run, test and exchange saved tools");
  const load = () => import("./commands/saved.ts");
  const loadExchange = () => import("./commands/saved-exchange.ts");
  saved
    .command("list")
    .description("list the saved tools")
    .action((_flags, command: Command) => run(command, async (context) => (await load()).listSaved(context)));
  saved
    .command("show")
    .description("show a saved tool: what it does, what it calls, its program")
    .argument("<name>", "name of the saved tool")
    .action((name: string, _flags, command: Command) =>
      run(command, async (context) => (await load()).showSaved(context, name)),
    );
  saved
    .command("run")
    .description("run a saved tool and print its result")
    .argument("<name>", "name of the saved tool")
    .argument("[arguments]", "a JSON object, or - to read one from standard input (default: {})")
    .option(
      "-a, --arg <name=value>",
      "one argument, in place of JSON; repeatable. A value is a text where the tool takes one, else JSON",
      collect,
    )
    .option("--dry-run", "answer from the recorded tests, and touch no tool")
    .action((name: string, text: string | undefined, flags: SavedRunFlags, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/saved-run.ts")).runSaved(context, name, text, flags),
      ),
    );
  saved
    .command("test")
    .description("run the tests of a saved tool, or of all, touching no tool (exit code 1)")
    .argument("[name]", "name of the saved tool (default: all)")
    .option("--record", "run the tool for real, once, and keep what happened as a test")
    .option("--params <json>", "parameters of the run that is recorded (default: {})")
    .option("--case <name>", "what to call the test that is recorded")
    .action((name: string | undefined, flags: SavedTestFlags, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/saved-test.ts")).testSaved(context, name, flags),
      ),
    );
  saved
    .command("export")
    .description("write a saved tool with its tests as a folder in the layout of a package")
    .argument("<name>", "name of the saved tool")
    .argument("<dir>", "folder to write, which must not be there")
    .option("--id <id>", "tool id of the package, such as acme.crm.search (default: saved.NAME)")
    .option("--package-version <version>", "version of the package (default: 1.0.0)")
    .action((name: string, folder: string, flags: ExportFlags, command: Command) =>
      run(command, async (context) => (await loadExchange()).exportSaved(context, name, folder, flags)),
    );
  saved
    .command("import")
    .description("take a saved tool from a folder; it has to be approved before it is called")
    .argument("<dir>", "folder of a package with a Starlark program")
    .option("--name <name>", "what to call it (default: as the package does)")
    .option("--force", "replace a saved tool of the same name")
    .action((folder: string, flags: ImportFlags, command: Command) =>
      run(command, async (context) => (await loadExchange()).importSaved(context, folder, flags)),
    );
  saved
    .command("approve")
    .description("let a saved tool be called that came to reach more than was approved")
    .argument("<name>", "name of the saved tool")
    .action((name: string, _flags, command: Command) =>
      run(command, async (context) => (await load()).approveSaved(context, name)),
    );
  saved
    .command("delete")
    .description("delete a saved tool")
    .argument("<name>", "name of the saved tool")
    .action((name: string, _flags, command: Command) =>
      run(command, async (context) => (await load()).deleteSaved(context, name)),
    );
}

function addStarlark(program: Command, run: RunCommand): void {
  const starlark = program
    .command("starlark")
    .description("run, check and format Starlark programs, or try the language");
  withLimits(
    withDialect(starlark.command("run").description("run a program; what it returns is printed as JSON")),
  )
    .argument("<file>", "the program, or - to read it from standard input")
    .option(
      "-p, --param <name=value>",
      "one entry of the program's dict params; repeatable. A value is JSON where it can be, else a text",
      collect,
    )
    .option("--params <json>", "params as a JSON object, or - to read it from standard input")
    .action((file: string, flags: RunFlags, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/starlark-run.ts")).runProgram(context, file, flags),
      ),
    );
  withDialect(
    starlark
      .command("check")
      .description("print OK for each sound program, or every problem with its place (exit code 1)"),
  )
    .argument("<files...>", "programs; - is standard input")
    .action((files: string[], flags: Pick<RunFlags, "dialect">, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/starlark-check.ts")).checkPrograms(context, files, flags),
      ),
    );
  withDialect(
    starlark
      .command("fmt")
      .description(
        "bring programs into their canonical layout, in place; the files that changed are printed",
      ),
  )
    .argument("<files...>", "programs; - alone formats standard input to standard output")
    .option("--check", "write nothing, and print the files that would change (exit code 1)")
    .action((files: string[], flags: FormatFlags, command: Command) =>
      run(command, async (context) =>
        (await import("./commands/starlark-format.ts")).formatPrograms(context, files, flags),
      ),
    );
  withLimits(
    withDialect(
      starlark.command("repl").description("read statements and expressions, run each, print its value"),
    ),
  ).action((flags: ReplFlags, command: Command) =>
    run(command, async (context) => (await import("./commands/starlark-repl.ts")).runRepl(context, flags)),
  );
}

function withDialect(command: Command): Command {
  const dialect = new Option(
    "--dialect <name>",
    "the language for tools, or strictly that of the specification",
  );
  return command.addOption(dialect.choices(["tool", "core"]).default("tool"));
}

function withLimits(command: Command): Command {
  return command
    .option("--steps <count>", "most steps (default: 10000000)", toCount)
    .option("--memory-mb <count>", "most memory in MiB (default: 128)", toCount)
    .option("--wall-ms <count>", "most milliseconds (default: 30000)", toCount);
}

function toCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError("It is a whole number from 1 on.");
}

function addAudit(program: Command, run: RunCommand): void {
  const audit = program.command("audit").description("show what was called, by whom, and how it went");
  const load = () => import("./commands/audit.ts");
  withFilters(audit.command("list").description("list records, newest first"), 50).action(
    (flags: AuditFlags, command: Command) =>
      run(command, async (context) => (await load()).listRecords(context, flags)),
  );
  audit
    .command("show")
    .description("show a call and the calls that it made, as a tree")
    .argument("<call>", "call id, or as much of its beginning as makes it unique")
    .action((id: string, _flags, command: Command) =>
      run(command, async (context) => (await load()).showCall(context, id)),
    );
  withFilters(audit.command("tail").description("show the last records, oldest first"), 10)
    .option("-f, --follow", "go on with new records until Ctrl-C; with --json one document a line")
    .action((flags: AuditFlags & { follow?: boolean }, command: Command) =>
      run(command, async (context) => (await load()).tailRecords(context, flags)),
    );
}

function withFilters(command: Command, limit: number): Command {
  return command
    .option("--client <name>", "only calls of this client (the name of its token, or cli)")
    .option("--tool <id>", "only this tool, such as files:read_file or files:*")
    .addOption(new Option("--outcome <outcome>", "only calls that came to this").choices(auditOutcomes))
    .option("--since <time>", "only from then on: 15m, 1h, 7d, or a date and time", parseSince)
    .option("-n, --limit <count>", "most records, 1 to 1000", parseAuditLimit, limit);
}

/** All values of an option that may be given several times. */
function collect(value: string, values: readonly string[] | undefined): readonly string[] {
  return [...(values ?? []), value];
}
