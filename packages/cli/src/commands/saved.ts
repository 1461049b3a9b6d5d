/** `toolcrib saved`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { toolArgumentOption } from "../option-values.ts";

const load = () => import("../saved/manage-saved.ts");
const loadExchange = () => import("../saved/exchange-saved.ts");

const name = { completes: "saved", help: "name of the saved tool" } as const;

export const command: CliCommandGroup = {
  name: "saved",
  summary: "list, show, run, test, publish, export and import saved tools",
  commands: [
    defineCommand({
      name: "list",
      summary: "list the saved tools",
      run: async (context) => (await load()).listSaved(context),
    }),
    defineCommand({
      name: "show",
      summary: "show a saved tool: its description, the tools it calls, its program",
      arguments: { name },
      run: async (context, args) => (await load()).showSaved(context, args.name),
    }),
    defineCommand({
      name: "run",
      summary: "run a saved tool and print its result",
      arguments: {
        name,
        arguments: {
          isOptional: true,
          help: "a JSON object, or - to read one from standard input (default: {})",
        },
      },
      options: {
        arg: toolArgumentOption,
        dryRun: { help: "use the recorded tests for answers, and call no tool" },
      },
      examples: ["toolcrib saved run report --arg days=7"],
      run: async (context, args, options) =>
        (await import("../saved/run-saved.ts")).runSaved(context, args.name, args.arguments, options),
    }),
    defineCommand({
      name: "test",
      summary: "run the tests of one saved tool or of all, without calling tools (exit code 1)",
      arguments: {
        name: { completes: "saved", isOptional: true, help: "name of the saved tool (default: all)" },
      },
      options: {
        record: { help: "run the tool once, with real calls, and save the run as a test" },
        params: { value: "json", help: "parameters of the recorded run (default: {})" },
        case: { value: "name", help: "name of the recorded test" },
      },
      run: async (context, args, options) =>
        (await import("../saved/test-saved.ts")).testSaved(context, args.name, options),
    }),
    defineCommand({
      name: "export",
      summary: "write a saved tool with its tests to a folder in the package layout",
      arguments: { name, dir: { help: "folder to write, which must not exist" } },
      options: {
        id: { value: "id", help: "tool id of the package, such as acme.crm.search (default: saved.NAME)" },
        packageVersion: { value: "version", help: "version of the package (default: 1.0.0)" },
      },
      run: async (context, args, options) =>
        (await loadExchange()).exportSaved(context, args.name, args.dir, options),
    }),
    defineCommand({
      name: "publish",
      summary: "write a saved tool with its tests as a signed package, and add it to a registry",
      arguments: { name },
      options: {
        id: { value: "id", isRequired: true, help: "tool id of the package, such as acme.crm.search" },
        bump: {
          value: "kind",
          choices: ["major", "minor", "patch"],
          help: "raise the version at least by this (default: what changed demands)",
        },
        packageVersion: {
          value: "version",
          help: "version of the package (default: 1.0.0, then the next one)",
        },
        license: { value: "license", help: "license, as an SPDX expression such as MIT" },
        author: { value: "name", help: "name of the publisher" },
        website: { value: "url", help: "website of the publisher" },
        homepage: { value: "url", help: "page about the tool" },
        tag: { value: "tag", isRepeatable: true, help: "tag for search; repeatable" },
        tool: {
          value: "id",
          isRepeatable: true,
          help: "a tool that the program chooses at run time, such as github:search; repeatable",
        },
        withoutReplies: { help: "leave the recorded replies of tools out of the tests" },
        out: { value: "file", help: "archive to write (default: ID-VERSION.mcpkg)" },
        key: {
          value: "file",
          help: "Ed25519 key in PEM that signs the package (default: the publisher key of the home)",
        },
        registry: {
          value: "registry",
          help: "also add it to this registry: a folder, or its name in the configuration",
        },
        registryKey: {
          value: "file",
          help: "Ed25519 key in PEM that signs the index (default: the registry key of the home)",
        },
      },
      examples: [
        "toolcrib saved publish report --id acme.crm.report --license MIT",
        "toolcrib saved publish report --id acme.crm.report --registry ./packages",
      ],
      run: async (context, args, options) =>
        (await import("../saved/publish-saved.ts")).publishSaved(context, args.name, options),
    }),
    defineCommand({
      name: "import",
      summary: "import the program of a package as a saved tool; it needs approval before it can be called",
      arguments: { dir: { help: "folder or archive of a package with a Starlark program" } },
      options: {
        name: { value: "name", help: "name of the saved tool (default: the package's name)" },
        force: { help: "replace a saved tool with the same name" },
      },
      run: async (context, { dir }, options) => (await loadExchange()).importSaved(context, dir, options),
    }),
    defineCommand({
      name: "approve",
      summary:
        "approve a saved tool as it is now: other clients find it, and it runs with the permissions of its caller",
      arguments: { name },
      options: {
        modified: { value: "time", help: "only if this is the time in modified, as saved show printed it" },
      },
      run: async (context, args, options) => (await load()).approveSaved(context, args.name, options),
    }),
    defineCommand({
      name: "delete",
      summary: "delete a saved tool",
      arguments: { name },
      run: async (context, args) => (await load()).deleteSaved(context, args.name),
    }),
  ],
};
