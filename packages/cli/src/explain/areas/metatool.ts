/** Explanations of the codes of the package metatool. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { call, gateway, library, programFiles } from "../samples.ts";

export const explanations: Explanations = {
  METATOOL_ARGUMENT_FORM: {
    cause:
      "Tools are called with one dict, or with arguments by name; nothing says which parameter a positional value would be.",
    files: programFiles('return notes.search("milk")'),
    run: "toolcrib save report.star --json",
    repaired: { files: programFiles('return notes.search({"query": "milk"})') },
    fix: 'Write notes.search({"query": "milk"}) or notes.search(query = "milk").',
  },
  METATOOL_ARGUMENT_MISSING: {
    cause: "The input schema of the called tool requires an argument that the call does not have.",
    files: programFiles("return notes.search({})"),
    run: "toolcrib save report.star --json",
    repaired: { files: programFiles('return notes.search({"query": "milk"})') },
    fix: "Add the argument that the message names.",
  },
  METATOOL_ARGUMENT_TYPE: {
    cause: "A literal in the program has a type or value that the input schema does not allow.",
    files: programFiles('return notes.search({"query": "milk", "limit": "ten"})'),
    run: "toolcrib save report.star --json",
    repaired: { files: programFiles('return notes.search({"query": "milk", "limit": 10})') },
    fix: "Pass the type or one of the values that the message names.",
  },
  METATOOL_ARGUMENT_UNKNOWN: {
    cause: "The called tool has no argument of this name.",
    files: programFiles('return notes.search({"query": "milk", "limt": 10})'),
    run: "toolcrib save report.star --json",
    repaired: { files: programFiles('return notes.search({"query": "milk", "limit": 10})') },
    fix: "Use a name that the hint lists.",
  },
  METATOOL_CHANGED_MEANWHILE: {
    cause: "The saved tool was changed by someone else after it was read, so the change could undo theirs.",
    did: "The operator approves a saved tool that its author has just changed.",
    prints:
      'Cannot approve "report": it was modified at 2026-11-26T10:05:00.000Z, and the approval is for the version of 2026-11-26T10:00:00.000Z\nread the current version: toolcrib saved show report',
    unrun: "moment",
    tested: "packages/metatool/test/core/approved-reach.test.ts",
    fix: "Read the current version, and repeat what you want to do.",
  },
  METATOOL_CLOSED: {
    cause: "The store of saved tools was used after it was closed.",
    files: library(
      'const store = await openSavedToolStore({ now: Date.now, randomBytes }, { directory: "tools" });',
      "await store[Symbol.asyncDispose]();",
      'await store.get("report");',
    ),
    did: "An embedding program uses the saved tools after it closed them.",
    run: "node program.mjs",
    fix: "Use the store before it is closed.",
  },
  METATOOL_COUNTERS_DAMAGED: {
    cause:
      "The file with numbers of executions cannot be read. Tools work; the numbers in their own files are used.",
    did: "The file of counters was cut off.",
    prints:
      'Cannot read the execution counters "/home/ada/.toolcrib/tools/.counters"; those in the files of the tools are used',
    unrun: "machine",
    tested: "packages/metatool/test/saved/saved-tools.test.ts",
    fix: "Nothing has to be done; remove the file to end the message.",
  },
  METATOOL_DIRECTORY_BUSY: {
    cause: "Another process holds the lock of the directory of saved tools for too long.",
    files: library(
      'const store = await openSavedToolStore({ now: Date.now, randomBytes }, { directory: "tools" });',
      'const lock = tryLock("tools", ".saved-tools", "exclusive");',
      'await store.delete("report").finally(() => lock[Symbol.dispose]());',
    ),
    did: "Another process holds the lock, which here is the program itself.",
    run: "node program.mjs",
    fix: "Try again; find the process that hangs and end it.",
  },
  METATOOL_DIRECTORY_UNUSABLE: {
    cause: "The directory of saved tools cannot be created or read.",
    files: programFiles("return 1"),
    before: ["umask 077; mkdir -p .toolcrib; echo no > .toolcrib/tools"],
    run: "toolcrib saved list",
    fix: "chown the directory to the user who runs Toolcrib.",
  },
  METATOOL_FIELD_INVALID: {
    cause: "A field of a saved tool is missing, empty, unknown or of the wrong type.",
    files: gateway.files,
    before: gateway.before,
    run: call("save_tool", { name: "report", desc: "Reports", code: "return 1" }),
    fix: "Correct the field that the message names.",
  },
  METATOOL_FIELD_TOO_LARGE: {
    cause: "A field of a saved tool, mostly its program, is longer than is stored.",
    files: programFiles("return 1"),
    before: ["yes '# more' | head -c 110000 >> report.star"],
    run: "toolcrib save report.star --json",
    fix: "Make the program shorter; pass data as a parameter.",
  },
  METATOOL_FILE_IN_THE_WAY: {
    cause:
      "A file with the name of the tool exists in the directory of saved tools and is no usable saved tool. It is left alone, so that nothing is lost.",
    files: programFiles("return 1"),
    before: ["umask 077; mkdir -p .toolcrib/tools; echo no > .toolcrib/tools/report.json"],
    run: "toolcrib save report.star --json",
    repaired: { before: ["rm .toolcrib/tools/report.json"] },
    fix: "Repair or move the file, or use another name.",
  },
  METATOOL_FILE_NAME: {
    cause: "A file of a saved tool was renamed, so that its name differs from the tool in it.",
    files: programFiles("return 1"),
    before: ["toolcrib save report.star", "cp .toolcrib/tools/report.json .toolcrib/tools/report2.json"],
    run: "toolcrib saved list",
    repaired: { before: ["rm .toolcrib/tools/report2.json"] },
    fix: "Rename the file, or the tool in it, as the hint shows.",
  },
  METATOOL_FILE_SYNTAX: {
    cause: "The file of a saved tool is not JSON in UTF-8.",
    files: programFiles("return 1"),
    before: ["toolcrib save report.star", "sed -i s/,// .toolcrib/tools/report.json"],
    run: "toolcrib saved list",
    fix: "Correct the place that the message shows, or save the tool again.",
  },
  METATOOL_FILE_TOO_LARGE: {
    cause: "The file of a saved tool is longer than is read.",
    files: programFiles("return 1"),
    before: ["toolcrib save report.star", "yes more | head -c 1100000 > .toolcrib/tools/log.json"],
    run: "toolcrib saved list",
    fix: "Move the file elsewhere, or save a smaller tool.",
  },
  METATOOL_FILE_UNREADABLE: {
    cause:
      "The file of a saved tool cannot be read: no permission, no regular file, or a link that leads out of the directory.",
    files: programFiles("return 1"),
    before: ["toolcrib save report.star", "mkdir .toolcrib/tools/folder.json"],
    run: "toolcrib saved list",
    fix: "Give the user access, or replace the link by the file.",
  },
  METATOOL_FILE_VERSION: {
    cause: "The file of a saved tool was written by a version that this one does not know.",
    files: programFiles("return 1"),
    before: [
      "toolcrib save report.star",
      'sed -i \'s/"version": "1.0"/"version": "9.0"/\' .toolcrib/tools/report.json',
    ],
    run: "toolcrib saved list",
    fix: "Use the newer Toolcrib.",
  },
  METATOOL_MEMORY_BUSY: {
    cause: "Composites share a limited memory. The composite waited for some and was refused.",
    did: "Many composites with large results run at the same time.",
    prints:
      "Running composites use all of their shared memory\ntry again later, or run fewer composites at the same time",
    unrun: "load",
    tested: "packages/metatool/test/run/composite-memory.security.test.ts",
    fix: "Try again later, or run fewer at a time.",
  },
  METATOOL_NAME_HIDDEN: {
    cause:
      "A variable has the name of a namespace of tools or of a predeclared name, which cannot be used any more after it.",
    files: programFiles("params = 1", "return params"),
    run: "toolcrib save report.star --json",
    fix: "Use another name, such as the one of the hint.",
  },
  METATOOL_NAME_INVALID: {
    cause:
      "The name of a saved tool is a name of files and of tools, so only some characters and lengths are possible.",
    files: gateway.files,
    before: gateway.before,
    run: call("save_tool", { name: "../report", description: "Reports", code: "return 1" }),
    repaired: { run: call("save_tool", { name: "report_one", description: "Reports", code: "return 1" }) },
    fix: "Use letters, digits, _ and -, as the hint proposes.",
  },
  METATOOL_NAME_RESERVED: {
    cause: "The name belongs to something else: a tool of Toolcrib, or a name that clients know.",
    files: programFiles("return 1"),
    run: "toolcrib save report.star --name search_tools --json",
    fix: "Use a different name.",
  },
  METATOOL_NAME_TAKEN: {
    cause:
      "The name differs from that of an existing saved tool only in case, separators or characters that look alike. A model could call the wrong one.",
    files: programFiles("return 1"),
    before: ["toolcrib save report.star --name daily_report"],
    run: "toolcrib save report.star --name daily-report --json",
    fix: "Use the existing name to replace that tool, or a name that differs more.",
  },
  METATOOL_NOT_DURABLE: {
    cause: "The change was made, but the disk did not confirm it. A power failure may undo it.",
    did: "The disk reports an error while a tool is saved.",
    prints: 'Changed "/home/ada/.toolcrib/tools/report.json", but the disk did not confirm the change: EIO',
    unrun: "machine",
    tested: "packages/metatool/test/saved/saved-disk.process.test.ts",
    fix: "Check the disk, then save again.",
  },
  METATOOL_NOT_FOUND: {
    cause: "No saved tool has this name, or the caller may not see it.",
    did: "An agent asks for the saved tool absent.",
    prints: 'No saved tool is named "absent"',
    unrun: "setup",
    tested: "packages/metatool/test/test/saved-tests.test.ts",
    fix: "toolcrib saved list shows the names.",
  },
  METATOOL_NOT_OWNER: {
    cause:
      "A saved tool belongs to the client that saved it, and only it, or the operator, can replace or delete it.",
    files: { ...programFiles("return 1"), ...gateway.files },
    before: ["toolcrib save report.star", ...gateway.before],
    run: call("save_tool", {
      name: "report",
      description: "Reports",
      inputSchema: { type: "object" },
      code: "return 2",
    }),
    fix: "Use another name, or ask the operator.",
  },
  METATOOL_PARAMETER_UNKNOWN: {
    cause: "The program reads a parameter that its input schema does not have, or one that may be absent.",
    files: {
      ...programFiles('return params["dayz"]'),
      "schema.json": '{ "type": "object", "properties": { "days": { "type": "integer" } } }\n',
    },
    run: "toolcrib save report.star --schema schema.json --json",
    repaired: { files: programFiles('return params.get("days")') },
    fix: "Correct the name, add it to the schema, or read it with params.get(NAME).",
  },
  METATOOL_RECURSIVE: {
    cause:
      "The saved tool calls itself, directly or through others, which would end only at the limit of nested calls.",
    files: programFiles("return saved.report({})"),
    before: [
      "echo '# Reports' > first.star",
      "echo 'return 1' >> first.star",
      "toolcrib save first.star --name report",
    ],
    run: "toolcrib save report.star --json",
    fix: "Use a def for what repeats.",
  },
  METATOOL_REPLY_MISSING: {
    cause:
      "A test of a saved tool replays recorded replies, and the program makes a call that was not recorded.",
    did: "The program was changed to call another tool.",
    prints: "The recording has no reply for notes.search with these arguments",
    unrun: "setup",
    tested: "packages/metatool/test/run/inner-calls.test.ts",
    fix: "Record the test again, if the new call is intended.",
  },
  METATOOL_SCHEMA_INVALID: {
    cause: "The input schema is not one that can be used. Parameters are an object.",
    files: gateway.files,
    before: gateway.before,
    run: call("save_tool", {
      name: "report",
      description: "Reports",
      code: "return 1",
      inputSchema: { type: "string" },
    }),
    fix: 'Write {"type": "object", "properties": {…}}.',
  },
  METATOOL_TEST_INVALID: {
    cause:
      "A test of a saved tool lacks a member, or has one that is unknown, of the wrong type or too large.",
    did: "A test in the file of a saved tool has expect instead of expected.",
    prints: 'Cannot use "tests[0].params": it must be an object',
    unrun: "setup",
    tested: "packages/metatool/test/exchange/exchange.test.ts",
    fix: "Correct the member that the message names.",
  },
  METATOOL_TEST_NOT_REPEATABLE: {
    cause:
      "A run was to become a test, and its replay ends differently, such as when it uses the time or timed out.",
    did: "A program that returns the current time is recorded.",
    prints: "Cannot record the run as a test: it timed out, so its replay may differ (30 s)",
    unrun: "setup",
    tested: "packages/metatool/test/test/saved-tests.test.ts",
    fix: "Record a run whose result depends on its parameters and replies only.",
  },
  METATOOL_TEST_TOO_LARGE: {
    cause: "A run has too many or too large replies to be kept as a test.",
    did: "A run over ten thousand issues is recorded.",
    prints:
      "Cannot record the run as a test: it has 2000000 bytes; at most 1048576 are allowed\nrecord a run over less data, or write a case by hand",
    unrun: "setup",
    tested: "packages/metatool/test/test/saved-tests.test.ts",
    fix: "Record a run over less data.",
  },
  METATOOL_TOOL_UNKNOWN: {
    cause: "The program calls a tool that does not exist, or that its author may not call.",
    files: programFiles('return notes.serch({"query": "milk"})'),
    run: "toolcrib save report.star --json",
    repaired: { files: programFiles('return notes.search({"query": "milk"})') },
    fix: "Use a name that toolcrib list shows; toolcrib status shows servers that are not ready.",
  },
  METATOOL_TOOL_UNUSED: {
    cause:
      "A warning: a package declares a tool that its program does not name. The operator has to approve each declared tool.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      "report/manifest.json":
        '{\n  "toolId": "demo.report",\n  "name": "Report",\n  "version": "0.1.0",\n  "description": "Finds, and reports.",\n  "capabilities": ["demo"],\n  "endpoint": { "type": "starlark", "source": "main.star", "tools": ["notes:search", "notes:export"] },\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" }\n}\n',
      "report/main.star": 'return {"found": notes.search({"query": "milk"})}\n',
    },
    run: "toolcrib validate report",
    fix: "Remove it from tools of the endpoint.",
  },
  METATOOL_TOO_MANY_TOOLS: {
    cause: "The number of saved tools is at its maximum.",
    files: programFiles("return 1"),
    before: [
      "toolcrib save report.star",
      "cd .toolcrib/tools; for n in $(seq 1000); do sed s/report/r$n/ report.json > r$n.json; done",
    ],
    run: "toolcrib save report.star --name last --json",
    fix: "Delete tools that nobody uses: toolcrib saved list, toolcrib saved delete NAME.",
  },
  METATOOL_UNWRITABLE: {
    cause: "The change could not be written; the old state is in place.",
    files: programFiles("return 1"),
    before: ["umask 077; mkdir -p .toolcrib/tools/.saved-tools.lock/x"],
    run: "toolcrib save report.star",
    fix: "Free space or correct permissions, and repeat.",
  },
};
