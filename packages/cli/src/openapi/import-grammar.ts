/** `toolcrib import` and `toolcrib toolspec`: their arguments and options. */

import { type Command, InvalidArgumentError } from "commander";
import type { RunCommand } from "../command-context.ts";
import type { ImportOpenapiFlags } from "../commands/import-openapi.ts";
import type { ToolspecTestFlags } from "../commands/toolspec-test.ts";

/** Add `import`. */
export function addImportCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command("import")
    .description("make a manifest and a toolspec of the OpenAPI document of an API");
  parent
    .command("openapi")
    .description(
      "write the manifest and the toolspec of an OpenAPI 3.0 or 3.1 document, and say what is left out",
    )
    .argument("<document>", "a file, YAML or JSON, or an https URL")
    .option(
      "-o, --operation <id>",
      "only this operation, by its operationId or as 'GET /path'; repeatable",
      collect,
    )
    .option("-t, --tag <tag>", "only operations with this tag; repeatable", collect)
    .option(
      "-p, --path <pattern>",
      "only paths like this: * has no slash, ** is anything; repeatable",
      collect,
    )
    .option("-m, --method <method>", "only this method; repeatable", collect)
    .option("--name <name>", "name of the manifest (default: from the title)")
    .option("--spec-version <version>", "version of the manifest (default: 0.1.0)")
    .option("--base-url <url>", "https://HOST/PATH, in place of the servers of the document")
    .option("--max-tools <count>", "most tools, 1 to 1000 (default: 200)", toToolCount)
    .option("--out <dir>", "folder of manifests/ and toolspecs/", ".")
    .option("--list", "list the operations of the document and write nothing")
    .option("--force", "overwrite files that are there")
    .action((place: string, flags: ImportOpenapiFlags, command: Command) =>
      run(command, async (context) =>
        (await import("../commands/import-openapi.ts")).importDocument(context, place, flags),
      ),
    );
}

/** Add `toolspec`. */
export function addToolspecCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command("toolspec")
    .description("run the examples of toolspecs, which are their tests");
  parent
    .command("test")
    .description(
      "run the examples of toolspecs against a service on loopback that checks each request to the byte",
    )
    .argument("<path>", "a folder with manifests and toolspecs, or one toolspec")
    .option("--live", "call the API itself, for tools that only read, with the secrets of the home")
    .option("--tool <name>", "only this tool; repeatable", collect)
    .option(
      "--secret <id=name>",
      "with --live, the secret of a credential (default: MANIFEST-ID); repeatable",
      collect,
    )
    .action((path: string, flags: ToolspecTestFlags, command: Command) =>
      run(command, async (context) =>
        (await import("../commands/toolspec-test.ts")).testToolspecs(context, path, flags),
      ),
    );
}

function collect(value: string, values: readonly string[] | undefined): readonly string[] {
  return [...(values ?? []), value];
}

function toToolCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1000) return count;
  throw new InvalidArgumentError("It is a whole number from 1 to 1000.");
}
