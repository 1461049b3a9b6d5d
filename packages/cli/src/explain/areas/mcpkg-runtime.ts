/** Explanations of the codes of the package mcpkg-runtime. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { installProgram, packageFiles, programPackage } from "../samples.ts";

export const explanations: Explanations = {
  PACKAGE_BUSY: {
    cause: "Programs of packages run a few at a time; all places and the queue are full.",
    did: "Many agents call tools of packages at once.",
    prints:
      "Too many programs of packages run and wait\ncall again later; sandbox.max_package_programs is the limit of programs that run at a time",
    unrun: "load",
    tested: "packages/gateway/test/package-busy.process.test.ts",
    fix: "Call again later, or raise sandbox.max_package_programs if the machine has the memory.",
  },
  PACKAGE_CHAIN_FAILED: {
    cause: "A step of a chain failed, so the steps after it did not run. Steps before it had their effects.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      ...packageFiles({}),
      "report/manifest.json":
        '{\n  "toolId": "demo.report",\n  "name": "Report",\n  "version": "0.1.0",\n  "description": "Repeats, and reports.",\n  "capabilities": ["demo"],\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" },\n  "chain": [{ "step": "one", "tool": "demo.echo", "inputMapping": { "message": "hello" }, "outputKey": "found" }]\n}\n',
    },
    before: [
      "echo 'egress: { connect_to: { example.com: \"10.0.0.7:443\" } }' >> toolcrib.yaml",
      "toolcrib install ./echo ./report --yes",
    ],
    run: "toolcrib call demo.report --json",
    fix: "See the reason after the colon, and the steps that ran before. Repair it, and repeat the chain if its first steps may run twice.",
  },
  PACKAGE_CHAIN_INVALID: {
    cause: "A chain needs a tool that does not exist here, leads back to itself, or has too many steps.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      ...packageFiles({}),
      "report/manifest.json":
        '{\n  "toolId": "demo.report",\n  "name": "Report",\n  "version": "0.1.0",\n  "description": "Repeats, and reports.",\n  "capabilities": ["demo"],\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" },\n  "chain": [{ "step": "one", "tool": "demo.echo", "inputMapping": { "message": "hello" }, "outputKey": "found" }]\n}\n',
    },
    before: ["toolcrib install ./echo ./report --yes", "toolcrib uninstall demo.echo --allow-broken-chains"],
    run: "toolcrib call demo.report --json",
    repaired: { before: ["toolcrib install ./echo --yes"] },
    fix: "Install the packages of the missing tools.",
  },
  PACKAGE_INPUT_INVALID: {
    cause:
      "The arguments match the schema, but the endpoint cannot take them: the URL or body would be too long, or a text has half a character.",
    files: { "toolcrib.yaml": "tool_servers: []\n", ...packageFiles({}) },
    before: [
      "toolcrib install ./echo --yes",
      'printf \'{"message": "%s"}\' "$(head -c 12000000 /dev/zero | tr \'\\0\' x)" > arguments.json',
    ],
    run: "toolcrib call demo.echo - --json < arguments.json",
    fix: "Pass less in one call, such as a part of the text or the path of a file.",
  },
  PACKAGE_NOT_STARTED: {
    cause:
      "No implementation of the package could be started on this machine; the message has the reason for each.",
    files: {
      "toolcrib.yaml": "packages: { demo.echo: { trust_state: verified } }\n",
      ...packageFiles({
        endpoint: undefined,
        implementations: [{ id: "script", endpoint: { type: "local", command: "./run" } }],
      }),
      "echo/run": "#!/opt/ruby9\n",
    },
    before: installProgram,
    run: "toolcrib call demo.echo --arg message=hello --json",
    fix: "Install what toolcrib info TOOL --why names.",
  },
  PACKAGE_PROGRAM_FAILED: {
    cause:
      "The program of the package ended with an error, or needs tools that do not exist here. The message ends with its standard error.",
    files: programPackage("echo 'division by zero' >&2; exit 1"),
    before: installProgram,
    run: "toolcrib call demo.echo --arg message=hello --json",
    fix: "Read the end of its standard error in the message. Report it to the publisher, with the arguments.",
  },
  PACKAGE_REPLY_MISSING: {
    cause:
      "A test is replayed from recorded replies, and the tool made a request that was not recorded, often because it changed.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      ...packageFiles(
        {},
        {
          replies: [
            {
              request: { method: "POST", url: "https://example.com/other" },
              response: { status: 200, body: { message: "hello" } },
            },
          ],
        },
      ),
    },
    run: "toolcrib test ./echo --replay 2>&1 | grep PACKAGE",
    fix: "Record it again, if the new request is intended: toolcrib test FOLDER --record.",
  },
  PACKAGE_RESULT_UNREADABLE: {
    cause:
      "A program of a package writes exactly one JSON value to standard output. It wrote something else, nothing, or too much.",
    files: programPackage("echo 'working...'"),
    before: installProgram,
    run: "toolcrib call demo.echo --arg message=hello --json",
    fix: "Write messages to standard error, and one JSON value to standard output.",
  },
  PACKAGE_UNUSABLE: {
    cause:
      "An installed package cannot run here: no implementation is for this machine, its token endpoint refuses, or its URL is not usable.",
    did: "The only implementation of a package is for Windows, and the gateway runs on Linux.",
    prints:
      '"demo.echo" cannot run here: it supports win32-x64, and not linux-x64\ntoolcrib info demo.echo --why explains what it needs',
    unrun: "machine",
    tested: "packages/cli/test/unusable-package.process.test.ts",
    fix: "Do what the hint says: use a version for this machine, configure the URL, or store the secret.",
  },
};
