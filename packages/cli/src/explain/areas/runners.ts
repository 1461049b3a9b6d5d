/** Explanations of the codes of the package runners. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  PACKAGE_CHANGED: {
    cause:
      "Fetched packages are recorded file by file. The files on disk are not those, or contain something that a package must not (a link to outside). A changed program is not started.",
    did: "Someone edited a file in the folder fetched of the home to debug a server.",
    prints: 'The package contains "node_modules/x", which is not a file',
    unrun: "machine",
    tested: "packages/runners/test/package-store.process.test.ts",
    fix: "Remove the package and fetch it again: toolcrib fetched remove NAME, then start the server. toolcrib fetched verify checks all.",
  },
  PACKAGE_FETCHING: {
    cause:
      "The packages of a server are still being fetched, by this or another gateway. The server starts when they are there.",
    did: "A gateway starts with a new server of npx, and a client calls at once.",
    prints: "mcp-server-github@1.2.3 is still being fetched\nthe server starts when it is there",
    unrun: "moment",
    tested: "packages/runners/test/package-store.process.test.ts",
    fix: "Wait; toolcrib status shows when the server is ready.",
  },
  PACKAGE_FETCH_FAILED: {
    cause:
      "A package could not be fetched: no network, a wrong name or version, a registry that answers with an error, or a host that fetches may not reach.",
    did: "A server names a package that its registry does not have.",
    prints:
      '"mcp-notes" could not be fetched: the registry has no such package (404 for https://registry.example.com/mcp-notes)\ncheck its name, the connection, and the registry in ~/.npmrc; a package that was fetched once starts without the network',
    unrun: "moment",
    tested: "packages/runners/test/look-up.process.test.ts",
    fix: "Check name and version, and the connection. For a registry of your own, set it in ~/.npmrc, UV_DEFAULT_INDEX or GOPROXY, and add its hosts to sandbox.registry_hosts.",
  },
  PACKAGE_TOO_LARGE: {
    cause: "The package with its dependencies, or all fetched packages together, are larger than allowed.",
    did: "A server depends on gigabytes of models.",
    prints:
      "The package and its dependencies have more than 1073741824 bytes\ninstall it yourself, and give the path of its program as command",
    unrun: "load",
    tested: "packages/runners/test/package-store.process.test.ts",
    fix: "Install the program yourself and give its path as command, or remove packages that nobody uses: toolcrib fetched list.",
  },
  PACKAGE_UNLOCKED: {
    cause:
      "A dependency comes from a Git repository, a folder or a URL, for which no integrity value exists. What is fetched later could be another program.",
    did: 'A package depends on "github:someone/fork".',
    prints:
      '"fork" 1.0.0 has no integrity value\npackages from Git repositories, folders and URLs cannot be locked: install the program, and give its path as command',
    unrun: "setup",
    tested: "packages/runners/test/package-store.process.test.ts",
    fix: "Install the program yourself and give its path as command, or use a version whose dependencies all come from a registry.",
  },
  RUNNER_COMMAND_INVALID: {
    cause: "The arguments of npx, uvx or go run name no package, or no program of it that can be chosen.",
    files: {
      "toolcrib.yaml":
        "tool_servers:\n  - id: notes\n    transport: { kind: stdio, command: npx, args: [-y, ./notes] }\n",
    },
    run: "toolcrib list --log-level warn 2>&1 | grep attempt",
    fix: 'Name the package and, if it has several programs, the program: args: ["-y", "--package", "NAME", "PROGRAM"].',
  },
};
