/** Explanations of the codes of the package cli. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { gateway, manifestFile, packageFiles, pairFiles, serverFile } from "../samples.ts";

export const explanations: Explanations = {
  CLI_APPROVAL_NOT_FOUND: {
    cause: "Nothing with this id or name waits for approval. A call waits for an hour.",
    files: gateway.files,
    before: gateway.before,
    run: "toolcrib approve call:0123456789abcdef",
    fix: "toolcrib approve lists what waits.",
  },
  CLI_APPROVAL_OUTDATED: {
    cause:
      "What waits is not what was shown: definitions changed, or the approval of a call would not count any more.",
    files: serverFile("notes"),
    run: "toolcrib approve notes --digest sha256:0000",
    fix: "Run toolcrib approve again, read what waits now, and approve that.",
  },
  CLI_ARGUMENT_UNSEEN: {
    cause:
      "A contained server sees the folders that its arguments name, but never a whole home, a folder that holds homes, or a folder with credentials, and its working folder as a relative path only where its entry declares cwd. Where the author of a bundle or of a server.json wrote the arguments (read_arguments: false), it sees none of them. The server starts, and finds nothing there.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: files
    transport: { kind: stdio, command: node, args: [server.js, /home] }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Name the folders that the server works with, such as /home/ada/projects. To let it read a whole home without the folders with credentials, name the home in containment.read_paths. Name there, too, a path that the author of a server wants it to read, after you decided that it may.",
  },
  CLI_ARGUMENTS_INVALID: {
    cause: "The arguments for a tool are a JSON object. The text is not JSON, or JSON of another kind.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "toolcrib call notes:search '{\"query\": milk}'",
    fix: 'Write JSON, in quotes for the shell: \'{"query": "milk"}\', or name single arguments: --arg query=milk.',
  },
  CLI_CALL_NOT_FOUND: {
    cause: "The audit trail of this home has no call with this id. Each home has a trail of its own.",
    run: "toolcrib audit show 0197c0de",
    fix: "toolcrib audit list --long shows ids. Use --home for the trail of another home.",
  },
  CLI_CLIENT_NOT_FOUND: {
    cause:
      "No client has this name: connect, disconnect and import know the programs of their list, the others the clients that received labelled data or taught words to search.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "toolcrib labels forget absent",
    fix: "Use the name that the hint proposes; toolcrib labels show lists clients with labels.",
  },
  CLI_CODE_NOT_FOUND: {
    cause:
      "toolcrib explain was asked for a code that this version does not have: it is misspelled, or of another program.",
    run: "toolcrib explain CONFIG_URL_INSECUR",
    fix: "Use the code that the hint proposes. toolcrib explain lists all codes by area.",
  },
  CLI_CONFIG_INVALID: {
    cause:
      "The configuration has errors. Each was printed before with its place and code; nothing was started.",
    files: { "toolcrib.yaml": "tool_servers: [{ id: notes }]\n" },
    run: "toolcrib list",
    fix: "Correct the listed errors. toolcrib config check shows them again.",
  },
  CLI_CONFIG_NOT_EDITABLE: {
    cause:
      "An entry is to be added to the configuration, and its notation cannot be changed without touching what others wrote. The command prints the entry instead.",
    files: {
      "toolcrib.yaml": "tool_servers: &servers []\n",
      "server.json":
        '{"name": "io.example/notes", "description": "Notes", "version": "1.0.0", "remotes": [{"type": "streamable-http", "url": "https://notes.example.com/mcp"}]}\n',
    },
    run: "toolcrib import server server.json",
    fix: "Add the printed lines yourself, or write the list with one item a line.",
  },
  CLI_CONFIG_NOT_FOUND: {
    cause: "There is no toolcrib.yaml in this folder or in the home, and none was named.",
    run: "toolcrib list",
    fix: "Create one with toolcrib init, or name one: --config FILE.",
  },
  CLI_CONNECTION_NOT_FOUND: {
    cause: "The client was not connected to this home, so there is nothing to take back.",
    run: "toolcrib disconnect cursor",
    fix: "The hint lists connected clients. Another home has other connections: --home.",
  },
  CLI_CREDENTIAL_MISSING: {
    cause: "The command calls an API itself, and a variable with the credential is not set.",
    files: { ...pairFiles({}), "arguments.json": '{ "id": "7" }\n' },
    run: "HTTPS_PROXY=http://127.0.0.1:9 toolcrib toolpack serve --manifest acme/manifests/acme/0.1.0.yaml --toolspec acme/toolspecs/acme/0.1.0.yaml --call get_repo < arguments.json",
    fix: "Set the variable, or run the command behind toolcrib egress, which inserts secrets.",
  },
  CLI_EXPORT_FAILED: {
    cause: "A saved tool cannot be exported, because its tests have errors.",
    files: { "toolcrib.yaml": "tool_servers: []\n", "report.star": '# Returns a text\nreturn "nothing"\n' },
    before: [
      "toolcrib save report.star",
      'sed -i \'s/"toolcrib": {/"toolcrib": { "tests": [{ "expect": 1 }],/\' .toolcrib/tools/report.json',
    ],
    run: "toolcrib saved export report out",
    fix: "Correct or remove the tests; toolcrib saved test NAME shows them.",
  },
  CLI_FETCH_FAILED: {
    cause:
      "A document cannot be fetched from its URL: no network, another status than 200, a redirect to another host, or too large.",
    did: "The server answers that the file does not exist.",
    run: "toolcrib install http://127.0.0.1:9000/status-404/echo.mcpkg --allow-loopback",
    fix: "Check the URL in a browser. Download the file and import it, if it needs a login.",
  },
  CLI_FILE_EXISTS: {
    cause: "The command would create a file that exists. It is not overwritten.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "toolcrib init",
    fix: "Choose another name, or replace the file with --force where the command has it.",
  },
  CLI_FILE_UNUSABLE: {
    cause:
      "A file or folder cannot be read or written: it does not exist, is a folder, permissions are missing.",
    run: "toolcrib starlark check absent.star",
    fix: "Correct the path or the permissions.",
  },
  CLI_GATEWAY_UNUSABLE: {
    cause:
      "A gateway of this home runs, and does not answer as this command expects: it hangs, or runs another version.",
    files: gateway.files,
    did: "A program removed the socket of the gateway.",
    before: [...gateway.before, "rm .toolcrib/run/*.sock"],
    run: "toolcrib status",
    fix: "Restart the gateway; toolcrib doctor shows its version.",
  },
  CLI_HOME_IN_USE: {
    cause: "Another gateway uses the home, and one of the two has serve.shared_home: false.",
    files: { "toolcrib.yaml": "tool_servers: []\nserve: { shared_home: false }\n" },
    before: ["toolcrib serve &"],
    run: "toolcrib serve",
    fix: "Use the running gateway, stop it (kill PID), or use another home.",
  },
  CLI_IMPORT_FAILED: {
    cause: "A file of another program has no servers that could be imported, or has errors.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Choose a file with servers or operations; the output says what is missing.",
  },
  CLI_INSTALLATION_INCOMPLETE: {
    cause: "A file of Toolcrib is missing: the installation was interrupted, or a file was removed.",
    did: "A folder of node_modules was deleted.",
    prints:
      'Cannot load a part of Toolcrib: Cannot find package "yaml"\ninstall Toolcrib again; in a checkout, run npm ci',
    unrun: "machine",
    tested: "packages/cli/test/load-failure.process.test.ts",
    fix: "Install Toolcrib again; in a checkout, run npm ci.",
  },
  CLI_INTERNAL: {
    cause: "The command failed because of a fault in Toolcrib.",
    did: "A command meets a state that nobody thought of, such as a clock that fails.",
    prints: "Internal error\nthis is a bug in Toolcrib; run the command with --debug and report its output",
    unrun: "fault",
    tested: "packages/cli/test/internal-error.process.test.ts",
    fix: "Run the command with --debug, and report the output and the command.",
  },
  CLI_INTERRUPTED: {
    cause: "The command was ended with Ctrl-C or by a signal, or a question was answered with no.",
    did: "Ctrl-C is pressed while servers start.",
    prints: "Interrupted by SIGINT",
    unrun: "moment",
    tested: "packages/cli/test/first-run.process.test.ts",
    fix: "Nothing; run the command again.",
  },
  CLI_PACKAGE_INVALID: {
    cause: "A package has errors, each of which was printed with its place.",
    files: packageFiles({ version: "1.0" }),
    run: "toolcrib pack echo",
    fix: "Correct them; toolcrib validate FOLDER shows them again.",
  },
  CLI_PACKAGE_UNTESTED: {
    cause: "The package has no tests, so there is nothing to run.",
    files: packageFiles({ tests: undefined }),
    run: "toolcrib test echo",
    fix: "Write tests/NAME.test.json, and name it in tests of the manifest.",
  },
  CLI_PROGRAM_FAILED: {
    cause: "A Starlark program failed while it ran, or reached a limit of steps, memory or time.",
    files: {
      "program.star": `values = [1, 2]
result = values[5]
`,
    },
    run: "toolcrib starlark run program.star",
    fix: "Correct the place that the message shows. For limits, do less, or raise --steps, --memory-mb or --wall-ms.",
  },
  CLI_PROGRAM_INVALID: {
    cause: "A Starlark program has errors and was not run; each was printed with its place.",
    files: { "program.star": "result = 1 +\n" },
    run: "toolcrib starlark run program.star",
    fix: "Correct them; toolcrib starlark check FILE shows them again.",
  },
  CLI_PROGRAM_UNUSABLE: {
    cause: "A program that was named after -- cannot be started: it is not found, or not executable.",
    files: manifestFile([
      'credentials:\n  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
      "",
    ]),
    run: "toolcrib egress --manifest manifest.yaml -- absent-program",
    fix: "Write the path of the program, or add its folder to PATH.",
  },
  CLI_PROXY_UNUSABLE: {
    cause: "The environment names a proxy (HTTPS_PROXY), and it cannot be reached or refuses the request.",
    run: "HTTPS_PROXY=http://127.0.0.1:9000/ toolcrib import openapi https://api.example.com/openapi.yaml",
    fix: "Correct HTTPS_PROXY, or unset it; NO_PROXY lists hosts that are reached without it.",
  },
  CLI_PUBLISH_REFUSED: {
    cause:
      "A saved tool is published only when it is approved, its reach is known, its tests pass, and its version is high enough.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      "report.star": '# Returns a text\nreturn "nothing"\n',
      "other.star": '# Returns a text\nreturn "something"\n',
    },
    before: [
      "toolcrib save report.star",
      "toolcrib saved publish report --id acme.text.report",
      "toolcrib save other.star --name report",
    ],
    run: "toolcrib saved publish report --id acme.text.report --package-version 0.9.0",
    fix: "Do what the message names: approve it, add tests, or choose a higher version.",
  },
  CLI_RUNNER_MISSING: {
    cause: "The server is fetched or built by npx, uvx or go, and this program is not installed.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "PATH=/none toolcrib add --yes -- uvx mcp-server-fetch@2025.4.7",
    fix: "Install it: uvx comes with uv, npx with Node.js, go with Go.",
  },
  CLI_FETCHED_NOT_FOUND: {
    cause: "No package that npx, uvx or go run launch was fetched under this name.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "toolcrib fetched remove npm-absent",
    fix: "toolcrib fetched lists the packages with their names.",
  },
  CLI_PROFILE_NOT_FOUND: {
    cause: "The configuration has no profile of this name, or not for this client.",
    files: { "toolcrib.yaml": "tool_servers: []\nprofiles: { work: {} }\n" },
    run: "toolcrib serve --stdio --profile wrok",
    fix: "Use a name below profiles of the configuration.",
  },
  CLI_TOKEN_NOT_FOUND: {
    cause: "No file in tokens of the home has this name.",
    before: ["toolcrib token create desk"],
    run: "toolcrib token revoke desc",
    fix: "toolcrib token list shows the names. Another home has other tokens: --home.",
  },
  CLI_SERVER_NOT_FOUND: {
    cause: "No tool server, toolspec or package has this id.",
    files: serverFile("notes"),
    run: "toolcrib logs githob",
    fix: "Use an id that the hint or toolcrib status lists.",
  },
  CLI_SERVER_NOT_READY: {
    cause: "The command needs a server that is not ready, or did not become ready in time.",
    files: serverFile("status-503"),
    did: "The server answers every request with the status 503.",
    run: "toolcrib why notes:search",
    fix: "toolcrib status and the log of the server show why.",
  },
  CLI_SERVICE_FAILED: {
    cause:
      "systemctl of the user's systemd refused an operation on the service, or the service ended while it started. The message has its exit code and what it printed.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      "bin/systemctl":
        "#!/bin/sh\ncase \"$*\" in *show*) exit 0 ;; esac\necho 'Job for toolcrib.service failed' >&2\nexit 1\n",
    },
    before: ["chmod +x bin/systemctl"],
    run: "PATH=bin:/usr/bin:/bin toolcrib service install",
    fix: "Read toolcrib service logs, correct what it shows (often toolcrib config check finds it, too), and run toolcrib service install again.",
  },
  CLI_SERVICE_UNAVAILABLE: {
    cause:
      "toolcrib service uses the systemd of your user, and there is none that can be reached: another system, a container, or a login without a session of its own (su, cron).",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "PATH=/none toolcrib service status",
    fix: "Log in with a session of your own (loginctl enable-linger keeps services running), let another supervisor run toolcrib serve --quiet, or run the image of the gateway in a container.",
  },
  CLI_TEST_CALLS_OTHERS: {
    cause: "Tests of a package that is not installed would call other tools as you, without approvals.",
    files: {
      "report/manifest.json":
        '{\n  "toolId": "demo.report",\n  "name": "Report",\n  "version": "0.1.0",\n  "description": "Searches, and reports.",\n  "capabilities": ["demo"],\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" },\n  "chain": [{ "step": "one", "tool": "demo.search", "inputMapping": {}, "outputKey": "found" }],\n  "tests": ["tests/one.test.json"]\n}\n',
      "report/tests/one.test.json": '{ "name": "one", "input": {}, "expected": {} }\n',
    },
    run: "toolcrib test report",
    fix: "Read its steps and tests, then add --allow-calls, or install it.",
  },
  CLI_TIMEOUT: {
    cause: "The call took longer than the time of the command (--timeout). The tool may still run.",
    files: serverFile("notes"),
    did: "The tool needs longer than the command waits.",
    run: "toolcrib call notes:export --timeout 1",
    fix: "Give more time with --timeout, or ask for less.",
  },
  CLI_TOOLSPEC_NOT_FOUND: {
    cause: "The catalog has no toolspec of this name or version.",
    run: "toolcrib catalog show githob",
    fix: "Use the name that the hint proposes, or find one: toolcrib catalog search WORDS.",
  },
  CLI_TOOL_NOT_FOUND: {
    cause: "No tool has this name.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "toolcrib call notes:serch",
    fix: "toolcrib list shows the names; servers that are not ready are missing in it.",
  },
  CLI_USAGE: {
    cause:
      "The command line is not valid: an unknown command or option, a missing argument, a value that is not allowed.",
    run: "toolcrib serch files",
    fix: "Do what the hint says, or see toolcrib help COMMAND.",
  },
};
