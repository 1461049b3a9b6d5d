/** Explanations of the codes of the package metatool. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  METATOOL_ARGUMENT_FORM: {
    cause:
      "Tools are called with one dict, or with arguments by name; nothing says which parameter a positional value would be.",
    did: 'A composite calls notes.search("milk").',
    prints: "notes.search takes one dict or arguments by name\nwrite notes.search({…})",
    unrun: "setup",
    fix: 'Write notes.search({"query": "milk"}) or notes.search(query = "milk").',
  },
  METATOOL_ARGUMENT_MISSING: {
    cause: "The input schema of the called tool requires an argument that the call does not have.",
    did: "A composite calls notes.search({}).",
    prints: 'notes.search needs "query"',
    unrun: "setup",
    fix: "Add the argument that the message names.",
  },
  METATOOL_ARGUMENT_TYPE: {
    cause: "A literal in the program has a type or value that the input schema does not allow.",
    did: 'A composite calls notes.search({"limit": "ten"}).',
    prints: '"limit" of notes.search is integer, got string',
    unrun: "setup",
    fix: "Pass the type or one of the values that the message names.",
  },
  METATOOL_ARGUMENT_UNKNOWN: {
    cause: "The called tool has no argument of this name.",
    did: 'A composite calls notes.search({"qery": "milk"}).',
    prints: 'notes.search has no "qery" (did you mean "query"?)\nit takes query, limit',
    unrun: "setup",
    fix: "Use a name that the hint lists.",
  },
  METATOOL_CHANGED_MEANWHILE: {
    cause: "The saved tool was changed by someone else after it was read, so the change could undo theirs.",
    did: "The operator approves a saved tool that its author has just changed.",
    prints:
      'Cannot approve "report": it was modified at 2026-11-26T10:05:00.000Z, and the approval is for the version of 2026-11-26T10:00:00.000Z\nread the current version: toolcrib saved show report',
    unrun: "moment",
    fix: "Read the current version, and repeat what you want to do.",
  },
  METATOOL_CLOSED: {
    cause: "The store of saved tools was used after it was closed.",
    did: "A program saves a tool after it disposed of its gateway.",
    prints: "Cannot use the saved tools: the store is closed",
    unrun: "library",
    fix: "Use the store before it is closed.",
  },
  METATOOL_COUNTERS_DAMAGED: {
    cause:
      "The file with numbers of executions cannot be read. Tools work; the numbers in their own files are used.",
    did: "The file of counters was cut off.",
    prints:
      'Cannot read the execution counters "/home/ada/.toolcrib/tools/.counters"; those in the files of the tools are used',
    unrun: "damage",
    fix: "Nothing has to be done; remove the file to end the message.",
  },
  METATOOL_DIRECTORY_BUSY: {
    cause: "Another process holds the lock of the directory of saved tools for too long.",
    did: "Two processes save tools at the same time, and one hangs.",
    prints:
      'Cannot lock "/home/ada/.toolcrib/tools": another process has been writing to it for 5000 ms\ntry again; if this persists, look for a toolcrib process that hangs',
    unrun: "moment",
    fix: "Try again; find the process that hangs and end it.",
  },
  METATOOL_DIRECTORY_UNUSABLE: {
    cause: "The directory of saved tools cannot be created or read.",
    did: "The directory belongs to root.",
    prints:
      'Cannot read the saved tools in "/home/ada/.toolcrib/tools": EACCES\ngive the user who runs toolcrib access to the directory',
    unrun: "machine",
    fix: "chown the directory to the user who runs Toolcrib.",
  },
  METATOOL_FIELD_INVALID: {
    cause: "A field of a saved tool is missing, empty, unknown or of the wrong type.",
    did: "An agent saves a tool with the unknown field desc.",
    prints: 'Unknown field "desc"; the fields are name, description, code',
    unrun: "client",
    fix: "Correct the field that the message names.",
  },
  METATOOL_FIELD_TOO_LARGE: {
    cause: "A field of a saved tool, mostly its program, is longer than is stored.",
    did: "A program with a table of 200 KB is saved.",
    prints: 'Cannot use "code": it has 200000 bytes; at most 102400 are allowed',
    unrun: "setup",
    fix: "Make the program shorter; pass data as a parameter.",
  },
  METATOOL_FILE_IN_THE_WAY: {
    cause:
      "A file with the name of the tool exists in the directory of saved tools and is no usable saved tool. It is left alone, so that nothing is lost.",
    did: "report.json was put into the directory by hand.",
    prints: 'Cannot change "report": its file exists and is not a usable saved tool, so it is left alone',
    unrun: "damage",
    fix: "Repair or move the file, or use another name.",
  },
  METATOOL_FILE_NAME: {
    cause: "A file of a saved tool was renamed, so that its name differs from the tool in it.",
    did: "report.json was copied to report2.json.",
    prints:
      'Cannot use the saved tool: its name is "report" and that of its file is "report2.json"\nname the file "report.json", or the tool "report2"',
    unrun: "damage",
    fix: "Rename the file, or the tool in it, as the hint shows.",
  },
  METATOOL_FILE_SYNTAX: {
    cause: "The file of a saved tool is not JSON in UTF-8.",
    did: "The file was edited by hand, and a comma is missing.",
    prints: "Cannot read the saved tool: its file is not valid JSON from here on",
    unrun: "damage",
    fix: "Correct the place that the message shows, or save the tool again.",
  },
  METATOOL_FILE_TOO_LARGE: {
    cause: "The file of a saved tool is longer than is read.",
    did: "A log was saved as report.json in the directory.",
    prints: "Cannot read the saved tool: its file is longer than 1048576 bytes",
    unrun: "damage",
    fix: "Move the file elsewhere, or save a smaller tool.",
  },
  METATOOL_FILE_UNREADABLE: {
    cause:
      "The file of a saved tool cannot be read: no permission, no regular file, or a link that leads out of the directory.",
    did: "A link in the directory leads to a project.",
    prints: "Cannot read the saved tool: it is not a file\nmove it elsewhere",
    unrun: "damage",
    fix: "Give the user access, or replace the link by the file.",
  },
  METATOOL_FILE_VERSION: {
    cause: "The file of a saved tool was written by a version that this one does not know.",
    did: "An older Toolcrib is started with the home of a newer one.",
    prints: 'Cannot read the saved tool: its version is "9"; only "1" is supported',
    unrun: "damage",
    fix: "Use the newer Toolcrib.",
  },
  METATOOL_MEMORY_BUSY: {
    cause: "Composites share a limited memory. The composite waited for some and was refused.",
    did: "Many composites with large results run at the same time.",
    prints:
      "Running composites use all of their shared memory\ntry again later, or run fewer composites at the same time",
    unrun: "load",
    fix: "Try again later, or run fewer at a time.",
  },
  METATOOL_NAME_HIDDEN: {
    cause:
      "A variable has the name of a namespace of tools or of a predeclared name, which cannot be used any more after it.",
    did: "An agent saves a program that assigns to the variable params.",
    prints: '"params" hides the predeclared params from here on\nuse another name, such as params_value',
    unrun: "client",
    fix: "Use another name, such as the one of the hint.",
  },
  METATOOL_NAME_INVALID: {
    cause:
      "The name of a saved tool is a name of files and of tools, so only some characters and lengths are possible.",
    did: 'An agent saves a tool as "../report".',
    prints:
      'Cannot save a tool as "../report": allowed are 1 to 64 of the characters A-Z a-z 0-9 _ . -\nuse "_report"',
    unrun: "client",
    fix: "Use letters, digits, _ and -, as the hint proposes.",
  },
  METATOOL_NAME_RESERVED: {
    cause: "The name belongs to something else: a tool of Toolcrib, or a name that clients know.",
    did: "A tool is saved as search_tools.",
    prints:
      'Cannot import a tool as "search_tools": it is the name of a tool of Toolcrib\nimport it under another name',
    unrun: "setup",
    fix: "Use a different name.",
  },
  METATOOL_NAME_TAKEN: {
    cause:
      "The name differs from that of an existing saved tool only in case, separators or characters that look alike. A model could call the wrong one.",
    did: "daily_report exists, and daily-report is saved.",
    prints:
      'Cannot save a tool as "daily-report": it is confusable with the existing "daily_report"; names must differ in more than case, separators and lookalike characters\nuse "daily_report" to replace that tool, or a name that differs more',
    unrun: "setup",
    fix: "Use the existing name to replace that tool, or a name that differs more.",
  },
  METATOOL_NOT_DURABLE: {
    cause: "The change was made, but the disk did not confirm it. A power failure may undo it.",
    did: "The disk reports an error while a tool is saved.",
    prints: 'Changed "/home/ada/.toolcrib/tools/report.json", but the disk did not confirm the change: EIO',
    unrun: "machine",
    fix: "Check the disk, then save again.",
  },
  METATOOL_NOT_FOUND: {
    cause: "No saved tool has this name, or the caller may not see it.",
    did: "An agent asks for the saved tool absent.",
    prints: 'No saved tool is named "absent"',
    unrun: "client",
    fix: "toolcrib saved list shows the names.",
  },
  METATOOL_NOT_OWNER: {
    cause:
      "A saved tool belongs to the client that saved it, and only it, or the operator, can replace or delete it.",
    did: "An agent saves a tool under a name that another agent uses.",
    prints:
      'Cannot save "report": the name belongs to another client or to the operator\nuse another name, or ask the operator',
    unrun: "client",
    fix: "Use another name, or ask the operator.",
  },
  METATOOL_PARAMETER_UNKNOWN: {
    cause: "The program reads a parameter that its input schema does not have, or one that may be absent.",
    did: 'The program of a saved tool reads params["dayz"], and its schema has days.',
    prints: 'The input schema has no "dayz" (did you mean "days"?)\nit has "days"',
    unrun: "client",
    fix: "Correct the name, add it to the schema, or read it with params.get(NAME).",
  },
  METATOOL_RECURSIVE: {
    cause:
      "The saved tool calls itself, directly or through others, which would end only at the limit of nested calls.",
    did: "The tool report calls saved.report.",
    prints:
      '"report" calls itself, which ends at the limit of nested calls\ncall a function of the program instead: def can call itself',
    unrun: "setup",
    fix: "Use a def for what repeats.",
  },
  METATOOL_REPLY_MISSING: {
    cause:
      "A test of a saved tool replays recorded replies, and the program makes a call that was not recorded.",
    did: "The program was changed to call another tool.",
    prints: "The recording has no reply for notes.search with these arguments",
    unrun: "setup",
    fix: "Record the test again, if the new call is intended.",
  },
  METATOOL_SCHEMA_INVALID: {
    cause: "The input schema is not one that can be used. Parameters are an object.",
    did: 'An agent saves a tool with the schema {"type": "string"}.',
    prints:
      'The type of an input schema must be "object", but is "string"\nwrite {"type": "object", "properties": {…}}',
    unrun: "client",
    fix: 'Write {"type": "object", "properties": {…}}.',
  },
  METATOOL_TEST_INVALID: {
    cause:
      "A test of a saved tool lacks a member, or has one that is unknown, of the wrong type or too large.",
    did: "A test in the file of a saved tool has expect instead of expected.",
    prints: 'Cannot use "tests[0].params": it must be an object',
    unrun: "setup",
    fix: "Correct the member that the message names.",
  },
  METATOOL_TEST_NOT_REPEATABLE: {
    cause:
      "A run was to become a test, and its replay ends differently, such as when it uses the time or timed out.",
    did: "A program that returns the current time is recorded.",
    prints: "Cannot record the run as a test: it timed out, so its replay may differ (30 s)",
    unrun: "running",
    fix: "Record a run whose result depends on its parameters and replies only.",
  },
  METATOOL_TEST_TOO_LARGE: {
    cause: "A run has too many or too large replies to be kept as a test.",
    did: "A run over ten thousand issues is recorded.",
    prints:
      "Cannot record the run as a test: it has 2000000 bytes; at most 1048576 are allowed\nrecord a run over less data, or write a case by hand",
    unrun: "running",
    fix: "Record a run over less data.",
  },
  METATOOL_TOOL_UNKNOWN: {
    cause: "The program calls a tool that does not exist, or that its author may not call.",
    did: "A program calls notes.serch, and the server notes has search.",
    prints: "Cannot call notes.serch: no tool has this name",
    unrun: "client",
    fix: "Use a name that toolcrib list shows; toolcrib status shows servers that are not ready.",
  },
  METATOOL_TOOL_UNUSED: {
    cause:
      "A warning: a package declares a tool that its program does not name. The operator has to approve each declared tool.",
    did: "The program of a package was changed and calls less.",
    prints:
      'The package declares the tool "github:list_issues", which "main.star" does not name\nremove it from tools of the endpoint: the operator has to approve each tool that is declared',
    unrun: "packages",
    fix: "Remove it from tools of the endpoint.",
  },
  METATOOL_TOO_MANY_TOOLS: {
    cause: "The number of saved tools is at its maximum.",
    did: "An agent saves a tool for each question.",
    prints: 'Cannot save "report": there are 1000 saved tools; at most 1000 are allowed\ndelete unused tools',
    unrun: "load",
    fix: "Delete tools that nobody uses: toolcrib saved list, toolcrib saved delete NAME.",
  },
  METATOOL_UNWRITABLE: {
    cause: "The change could not be written; the old state is in place.",
    did: "The disk is full.",
    prints: 'Cannot save "report": ENOSPC',
    unrun: "machine",
    fix: "Free space or correct permissions, and repeat.",
  },
};
