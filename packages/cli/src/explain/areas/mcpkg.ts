/** Explanations of the codes of the package mcpkg. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library, packageFiles } from "../samples.ts";

export const explanations: Explanations = {
  MCPKG_ARCHIVE_INVALID: {
    cause:
      "The file is no ZIP archive, or one that two programs would read differently (entries twice, data after its end).",
    files: { "echo.mcpkg": "this is no archive\n" },
    run: "toolcrib validate echo.mcpkg",
    fix: "Pack the folder again: toolcrib pack FOLDER. If it was downloaded, get it again.",
  },
  MCPKG_ARCHIVE_TOO_LARGE: {
    cause:
      "The archive, or what it contains, is larger than a package may be. Compressed data that grows without end would fill the disk.",
    files: packageFiles({}),
    before: ["mkdir echo/data; cd echo/data; for n in $(seq 2100); do : > $n.txt; done"],
    run: "toolcrib pack echo",
    repaired: { before: ["rm -r echo/data"] },
    fix: "Leave out what the tool does not need, such as dependencies that are fetched.",
  },
  MCPKG_ASSERTION_INVALID: {
    cause: "An assertion needs exactly one condition. A test that expects an error has none for a result.",
    files: packageFiles({}, { assertions: [{ path: "$.message" }] }),
    run: "toolcrib validate echo",
    fix: "Write one of equals, notEquals, exists and notExists.",
  },
  MCPKG_CHAIN_INVALID: {
    cause:
      "A step of a chain uses a value that is not known at that point, calls its own package, or has a name that is used already.",
    files: packageFiles({
      endpoint: undefined,
      chain: [
        { step: "one", tool: "demo.other", inputMapping: { message: "$.two.text" }, outputKey: "first" },
      ],
    }),
    run: "toolcrib validate echo",
    fix: "Use input, or the step or outputKey of an earlier step, as the hint lists.",
  },
  MCPKG_COMMAND_INVALID: {
    cause:
      "The command of a local endpoint is not a program that packages may run, such as a path outside of the package.",
    files: packageFiles({ endpoint: { type: "local", command: "../tool" } }),
    run: "toolcrib validate echo",
    fix: "Name a file of the package, or one of the interpreters that packages may use.",
  },
  MCPKG_DUPLICATE_KEY: {
    cause:
      "A member occurs twice in an object. Programs use the first or the last, so nobody knows which is meant.",
    files: { "echo/manifest.json": '{ "toolId": "demo.echo", "toolId": "demo.echo2" }\n' },
    run: "toolcrib validate echo",
    fix: "Remove one of the two.",
  },
  MCPKG_ENDPOINT_INVALID: {
    cause: "The endpoint cannot be called as it is written, such as a URL that is not https.",
    files: packageFiles({ endpoint: { type: "http", method: "POST", url: "ftp://example.com/echo" } }),
    run: "toolcrib validate echo",
    fix: "Write a complete https URL, and placeholders that the input schema has.",
  },
  MCPKG_FIELD_REQUIRED: {
    cause: "A member that every manifest or test needs is missing.",
    files: packageFiles({ description: undefined }),
    run: "toolcrib validate echo",
    fix: "Add it.",
  },
  MCPKG_FILE_MISSING: {
    cause: "The manifest names a file that is not in the package.",
    files: packageFiles({ tests: ["tests/absent.test.json"] }),
    run: "toolcrib validate echo",
    fix: "Add the file, or correct its path: it is relative to the manifest, with / between the parts.",
  },
  MCPKG_FILE_TOO_LARGE: {
    cause: "A manifest or a test has more than 1 MiB. It is read before anything else of a package is known.",
    files: packageFiles({}),
    before: ["yes '                ' | head -c 1100000 >> echo/manifest.json"],
    run: "toolcrib validate echo",
    fix: "Move large data into a file of the package, or make the test smaller.",
  },
  MCPKG_FILE_UNUSED: {
    cause: "A file looks like a test, and the manifest does not name it, so it never runs.",
    files: packageFiles(
      {},
      {},
      {
        "echo/tests/other.test.json":
          '{ "name": "other", "input": { "message": "x" }, "expected": { "message": "x" } }\n',
      },
    ),
    run: "toolcrib validate echo",
    fix: "Add it to tests of the manifest, or remove it.",
  },
  MCPKG_FOLDER_UNUSABLE: {
    cause:
      "The folder, or a file in it, cannot be read as a package: it does not exist, is a link, or permissions are missing.",
    files: packageFiles({}),
    before: ["ln -s nowhere echo/tests/more.json"],
    run: "toolcrib pack echo",
    fix: "Name the folder that has manifest.json, or an archive.",
  },
  MCPKG_JSON_PATH_INVALID: {
    cause: "A path of an assertion or a mapping is not JSONPath (RFC 9535).",
    files: packageFiles({}, { assertions: [{ path: "$.message[", exists: true }] }),
    run: "toolcrib validate echo",
    fix: "Write a path such as $.status or $.items[0].id.",
  },
  MCPKG_JSON_PATH_LIMIT: {
    cause:
      "Evaluating a path needs more steps or values than are allowed, mostly because of .. over a large result.",
    files: library(
      "const items = Array.from({ length: 1_100_000 }, (_, id) => id);",
      'evaluatePath("$..*", { items });',
    ),
    run: "node program.mjs",
    fix: "Name the members on the way.",
  },
  MCPKG_KEY_INVALID: {
    cause: "A key for signing is an Ed25519 key in PEM. The file is something else.",
    files: packageFiles({}),
    before: ["toolcrib pack echo", "openssl genrsa -out key.pem 2048 2>/dev/null"],
    run: "toolcrib sign demo.echo-0.1.0.mcpkg --key key.pem",
    repaired: { before: ["openssl genpkey -algorithm ed25519 -out key.pem"] },
    fix: "Create one: openssl genpkey -algorithm ed25519 -out key.pem.",
  },
  MCPKG_PATH_INVALID: {
    cause:
      "The path of a file is one that some systems read differently: .., \\, a device name of Windows, characters that look alike, a name that differs in case only.",
    files: packageFiles({}, {}, { "echo/aux.txt": "more\n" }),
    run: "toolcrib pack echo",
    repaired: { before: ["rm echo/aux.txt"] },
    fix: "Rename the file: letters, digits and . _ - are safe.",
  },
  MCPKG_PROGRAM_INVALID: {
    cause:
      "The program of a Starlark endpoint is not UTF-8, is too long, or its list of tools names one twice.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      "report/manifest.json":
        '{\n  "toolId": "demo.report",\n  "name": "Report",\n  "version": "0.1.0",\n  "description": "Finds, and reports.",\n  "capabilities": ["demo"],\n  "endpoint": { "type": "starlark", "source": "main.star", "tools": ["notes:search", "notes:search"] },\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" }\n}\n',
      "report/main.star": 'return {"found": notes.search({"query": "milk"})}\n',
    },
    run: "toolcrib validate report",
    fix: "Name each tool once, and save the program as UTF-8.",
  },
  MCPKG_SCHEMA_INVALID: {
    cause:
      "A schema is not a JSON Schema that can be used. Arguments are an object, so the type of input_schema is object.",
    files: packageFiles({ input_schema: { type: "string" } }),
    run: "toolcrib validate echo",
    fix: 'Write {"type": "object", "properties": {…}}.',
  },
  MCPKG_SIGNATURE_INVALID: {
    cause:
      "The signature does not cover exactly the files of the archive, or is not made by the key that it names. Something was changed after signing.",
    files: packageFiles({}),
    before: [
      "toolcrib pack echo --sign",
      "python3 -c \"import zipfile,json; a=zipfile.ZipFile('demo.echo-0.1.0.mcpkg'); b=zipfile.ZipFile('changed.mcpkg','w'); [b.writestr(n, a.read(n).replace(b'hello', b'hallo')) for n in a.namelist()]; b.close()\"",
    ],
    run: "toolcrib verify changed.mcpkg",
    fix: "Get the archive from its publisher again. After a change of your own, pack and sign it again.",
  },
  MCPKG_SYNTAX: {
    cause: "A manifest or test is not JSON that can be read.",
    files: { "echo/manifest.json": '{ "toolId": "demo.echo", "name": }\n' },
    run: "toolcrib validate echo",
    fix: "Correct the place that the message shows.",
  },
  MCPKG_TEST_INPUT_INVALID: {
    cause: "The input of a test does not match the input schema, so the call would be refused.",
    files: packageFiles({}, { input: { text: "hello" } }),
    run: "toolcrib validate echo",
    fix: "Correct the input of the test, or the schema.",
  },
  MCPKG_TOOL_ID_INVALID: {
    cause:
      "A toolId is two or more parts of a-z, 0-9 and _ with dots between, so that it is a name everywhere.",
    files: packageFiles({ toolId: "Echo" }),
    run: "toolcrib validate echo",
    fix: "Write an id such as acme.crm.search.",
  },
  MCPKG_TOO_COMPLEX: {
    cause: "A manifest or a test is nested more deeply than is read.",
    files: packageFiles({}),
    before: [
      "echo '{ \"name\": \"deep\", \"input\": {}, \"expected\": '$(printf '%200s' | tr ' ' '[')$(printf '%200s' | tr ' ' ']')' }' > echo/tests/echo.test.json",
    ],
    run: "toolcrib validate echo",
    fix: "Expect a part of the result, with assertions.",
  },
  MCPKG_UNKNOWN_FIELD: {
    cause: "A member is not one of the format, often a misspelled one.",
    files: packageFiles({ descripton: "Echo" }),
    run: "toolcrib validate echo",
    fix: "Correct it as the hint says, or remove it.",
  },
  MCPKG_VALUE_INVALID: {
    cause: "A value is not allowed in its place, such as a method that HTTP does not have.",
    files: packageFiles({ endpoint: { type: "http", method: "FETCH", url: "https://example.com/echo" } }),
    run: "toolcrib validate echo",
    fix: "Write a value that the message names.",
  },
  MCPKG_VERSION_INVALID: {
    cause: "A version is MAJOR.MINOR.PATCH (SemVer), so that versions can be compared.",
    files: packageFiles({ version: "1.0" }),
    run: "toolcrib validate echo",
    fix: "Write a version such as 1.0.0.",
  },
  MCPKG_WRONG_TYPE: {
    cause: "A value has another type than its member takes.",
    files: packageFiles({ capabilities: "demo" }),
    run: "toolcrib validate echo",
    fix: "Write the type that the message names.",
  },
};
