/** Explanations of the codes of the package mcpkg-registry. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { packageFiles } from "../samples.ts";

export const explanations: Explanations = {
  MCPKG_REGISTRY_DIGEST_MISMATCH: {
    cause:
      "A file is not the one that the signed index names: a mirror or proxy changed it, or the copy is incomplete.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo --sign",
      "toolcrib registry init registry",
      "toolcrib registry add registry demo.echo-0.1.0.mcpkg",
      "printf x | dd of=registry/packages/demo.echo-0.1.0.mcpkg bs=1 seek=100 conv=notrunc 2>/dev/null",
    ],
    run: "toolcrib install demo.echo --registry ./registry --yes",
    fix: "Try again later, or use the registry itself. Its operator checks it with toolcrib registry verify FOLDER.",
  },
  MCPKG_REGISTRY_EXPIRED: {
    cause:
      "An index is valid until a date, so that an old copy cannot be shown for ever. The date has passed.",
    before: ["toolcrib registry init registry --expires 1s", "sleep 1.1"],
    run: "toolcrib registry verify ./registry",
    repaired: { before: ["toolcrib registry renew registry"] },
    fix: "Its operator runs toolcrib registry renew FOLDER. Check the clock of this machine too.",
  },
  MCPKG_REGISTRY_FOLDER_INVALID: {
    cause: "A folder is not a registry, or is one already, or another command is changing it.",
    files: packageFiles({}),
    before: ["mkdir folder", "toolcrib pack echo"],
    run: "toolcrib registry add folder demo.echo-0.1.0.mcpkg",
    fix: "Create a registry with toolcrib registry init FOLDER, or name the right folder.",
  },
  MCPKG_REGISTRY_INDEX_INVALID: {
    cause: "The index is signed, but does not have the form of an index that this version knows.",
    did: "A registry was written by a later version of Toolcrib.",
    prints: "Cannot read the index: its formatVersion is 3\na later version of Toolcrib may have written it",
    unrun: "setup",
    tested: "packages/mcpkg-registry/test/hostile-registry.security.test.ts",
    fix: "Update Toolcrib, or ask the operator of the registry.",
  },
  MCPKG_REGISTRY_KEY_MISMATCH: {
    cause:
      "The index is signed by another key than the known one. Either its operator replaced the key without a signed replacement, or somebody else answers.",
    files: {
      "toolcrib.yaml":
        'registries:\n  - { name: acme, folder: ./registry, key: "sha256:1111111111111111111111111111111111111111111111111111111111111111" }\n',
    },
    before: ["toolcrib registry init registry"],
    run: "toolcrib registry verify acme",
    fix: "Ask the operator over another way. If the new key is right, write it as key of the registry in toolcrib.yaml.",
  },
  MCPKG_REGISTRY_LISTEN_FAILED: {
    cause: "The server of a registry cannot listen: the address is in use, or not of this machine.",
    before: ["toolcrib registry init registry"],
    run: "toolcrib registry serve registry --listen 192.0.2.1:7421",
    fix: "Stop the other program, or choose another port.",
  },
  MCPKG_REGISTRY_PACKAGE_INVALID: {
    cause: "A package with errors is not added, because nobody could install it.",
    files: packageFiles({ version: "1.0" }),
    before: [
      "toolcrib registry init registry",
      "cd echo; python3 -m zipfile -c ../echo.mcpkg manifest.json tests/echo.test.json",
    ],
    run: "toolcrib registry add registry echo.mcpkg --allow-unsigned",
    fix: "toolcrib validate FILE shows the errors. Repair, pack and sign it again.",
  },
  MCPKG_REGISTRY_PACKAGE_NOT_FOUND: {
    cause: "None of the registries has a package of this toolId.",
    did: "toolcrib registry list is asked for demo.absent.",
    prints: "No registry has the package demo.absent\nregistries that were searched: acme",
    unrun: "setup",
    tested: "packages/mcpkg-registry/test/registry.test.ts",
    fix: "Search with toolcrib registry search WORDS; add the registry that has it.",
  },
  MCPKG_REGISTRY_PACKAGE_UNSIGNED: {
    cause: "A registry has signed packages, so that clients know their publishers. This one is not signed.",
    files: packageFiles({}),
    before: ["toolcrib registry init registry", "toolcrib pack echo"],
    run: "toolcrib registry add registry demo.echo-0.1.0.mcpkg",
    repaired: { run: "toolcrib registry add registry demo.echo-0.1.0.mcpkg --allow-unsigned" },
    fix: "Sign it: toolcrib sign FILE.",
  },
  MCPKG_REGISTRY_PLACE_INVALID: {
    cause: "The address of a registry is a folder or an https URL (http to this machine only).",
    run: "toolcrib registry search echo --registry ftp://registry.example/",
    fix: "Write https://HOST/PATH/, or the path of a folder.",
  },
  MCPKG_REGISTRY_PUBLISHER_CHANGED: {
    cause: "A version is signed by another key than the earlier versions of the package.",
    files: packageFiles({}),
    before: [
      "toolcrib registry init registry",
      "toolcrib pack echo --sign",
      "toolcrib registry add registry demo.echo-0.1.0.mcpkg",
      "openssl genpkey -algorithm ed25519 -out new.pem",
      "sed -i s/0.1.0/0.2.0/ echo/manifest.json",
      "toolcrib pack echo",
      "toolcrib sign demo.echo-0.2.0.mcpkg --key new.pem",
    ],
    run: "toolcrib registry add registry demo.echo-0.2.0.mcpkg",
    repaired: { run: "toolcrib registry add registry demo.echo-0.2.0.mcpkg --allow-new-key" },
    fix: "Sign it with the key of the earlier versions. If the publisher has a new key, add --allow-new-key.",
  },
  MCPKG_REGISTRY_RANGE_INVALID: {
    cause: "What follows @ is no range of versions of SemVer.",
    did: "A chain asks for demo.echo@newest.",
    prints:
      "Cannot resolve demo.echo@newest: it is not a range of SemVer\nwrite a version such as 1.2.0, or a range such as ^1.2 or >=1.0 <3",
    unrun: "setup",
    tested: "packages/mcpkg-registry/test/registry.test.ts",
    fix: "Write a version such as 1.2.0, or a range such as ^1.2.",
  },
  MCPKG_REGISTRY_RESPONSE_INVALID: {
    cause:
      "The web server of the registry answers with another status than 200 or 304: a wrong path, a login, a redirect.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "toolcrib registry verify http://127.0.0.1:9000/status-404/",
    fix: "Correct the URL: index.json is directly below it. Redirects are not followed; write their target if you trust it.",
  },
  MCPKG_REGISTRY_ROLLED_BACK: {
    cause:
      "The index is older than one that was seen before, or contradicts it. Someone could hide a withdrawn version in this way.",
    before: [
      "toolcrib registry init registry",
      "cp -r registry copy",
      "toolcrib registry renew registry",
      "toolcrib registry list ./registry",
      "rm -r registry; mv copy registry",
    ],
    run: "toolcrib registry verify ./registry",
    repaired: { before: ["toolcrib registry renew registry", "toolcrib registry renew registry"] },
    fix: "Use the registry itself, or wait. If it persists, ask the operator whether a backup was restored.",
  },
  MCPKG_REGISTRY_SIGNATURE_INVALID: {
    cause: "The index is not signed, or was changed after it was signed.",
    before: ["toolcrib registry init registry", "sed -i 's/registry/regestry/' registry/index.json"],
    run: "toolcrib registry verify ./registry",
    fix: "Its operator checks it with toolcrib registry verify FOLDER, and signs it again with toolcrib registry renew FOLDER.",
  },
  MCPKG_REGISTRY_STATE_BUSY: {
    cause: "Another command remembers the key of the same registry.",
    did: "Two terminals use a registry for the first time.",
    prints:
      'Cannot remember the key of https://registry.example/: another command holds "state.lock"\ntry again when it has ended',
    unrun: "moment",
    tested: "packages/mcpkg-registry/test/registry.test.ts",
    fix: "Try again when it has ended.",
  },
  MCPKG_REGISTRY_STATE_INVALID: {
    cause: "What the home remembers of a registry (its key, the last index) is damaged.",
    before: [
      "toolcrib registry init registry",
      "toolcrib registry list ./registry",
      "find .toolcrib -name 'state.json' -exec sh -c 'echo no > \"$1\"' sh {} ';'",
    ],
    run: "toolcrib registry verify ./registry",
    repaired: { before: ["rm -r .toolcrib/registries"] },
    fix: "Remove the folder that the message names, and compare the key that is shown next with the one that the operator states.",
  },
  MCPKG_REGISTRY_TIMED_OUT: {
    cause: "The registry did not send a file in time.",
    did: "A slow connection and a large archive.",
    prints:
      'Cannot read "https://registry.example/index.json": the registry did not send it in 30000 ms\ntry again later',
    unrun: "setup",
    tested: "packages/mcpkg-registry/test/hostile-registry.security.test.ts",
    fix: "Try again later, or use a nearer copy.",
  },
  MCPKG_REGISTRY_TOO_LARGE: {
    cause: "An index, a package, or all indexes together are larger than is read.",
    did: "A registry has a hundred thousand versions.",
    prints: "The registries together are too large: 300 MB\nname fewer of them, with --registry",
    unrun: "setup",
    tested: "packages/mcpkg-registry/test/hostile-registry.security.test.ts",
    fix: "Name fewer registries with --registry. The operator can divide a large registry.",
  },
  MCPKG_REGISTRY_UNREACHABLE: {
    cause: "The registry cannot be reached, or a file of it cannot be read.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "toolcrib registry verify http://127.0.0.1:9/",
    fix: "Check the URL, the network and the proxy. For a folder, check that this user can read it.",
  },
  MCPKG_REGISTRY_VERSION_EXISTS: {
    cause: "The registry has this version already, with other content. Released versions never change.",
    files: packageFiles({}),
    before: [
      "toolcrib registry init registry",
      "toolcrib pack echo --sign",
      "toolcrib registry add registry demo.echo-0.1.0.mcpkg",
      "sed -i s/Returns/Repeats/ echo/manifest.json",
      "toolcrib pack echo --sign --force",
    ],
    run: "toolcrib registry add registry demo.echo-0.1.0.mcpkg",
    fix: "Raise the version in manifest.json, pack, sign and add it.",
  },
  MCPKG_REGISTRY_VERSION_NOT_FOUND: {
    cause:
      "The registry has the package, but no version in the range. Withdrawn versions and pre-releases count only when they are named exactly.",
    files: packageFiles({}),
    before: [
      "toolcrib registry init registry",
      "toolcrib pack echo --sign",
      "toolcrib registry add registry demo.echo-0.1.0.mcpkg",
    ],
    run: "toolcrib registry yank registry demo.echo@9.0.0",
    repaired: { run: "toolcrib registry yank registry demo.echo@0.1.0" },
    fix: "Name one of the versions that the hint lists.",
  },
  SERVER_IMPORT_BUNDLE_INVALID: {
    cause: "A bundle (.mcpb) has no manifest, or lacks a file that its manifest names.",
    files: { "toolcrib.yaml": "tool_servers: []\n", "notes.txt": "milk\n" },
    before: ["python3 -m zipfile -c notes.mcpb notes.txt"],
    run: "toolcrib import bundle notes.mcpb",
    fix: "Get the bundle again from its publisher; its manifest.json is at the top, not in a folder.",
  },
  SERVER_IMPORT_CONTAINMENT: {
    cause:
      "A warning: the server works differently, or not, in the containment of an unverified server. The message says what would have to be allowed.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0",
  "packages": [{ "registryType": "oci", "identifier": "docker.io/example/notes:1.0.0", "transport": { "type": "stdio" } }] }
`,
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Prefer a package of another type, or allow what the hint names after you have decided to trust the server.",
  },
  SERVER_IMPORT_DEPRECATED: {
    cause: "The publisher marks the server as one that is not offered any more. It gets no repairs.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0", "status": "deprecated",
  "packages": [{ "registryType": "npm", "identifier": "mcp-notes", "version": "1.0.0", "transport": { "type": "stdio" } }] }
`,
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Look for its successor in the registry.",
  },
  SERVER_IMPORT_DUPLICATE_KEY: {
    cause: "A member occurs twice in one object, so nobody knows which is meant.",
    files: {
      "server.json": '{ "name": "io.example/notes", "name": "io.example/other", "version": "1.0.0" }\n',
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Remove one of the two, or report it to the publisher.",
  },
  SERVER_IMPORT_FIELD_REQUIRED: {
    cause: "A member that the format requires is missing.",
    files: { "server.json": '{ "description": "Notes", "version": "1.0.0" }\n' },
    run: "toolcrib import server server.json --dry-run",
    fix: "Get the complete file from the publisher.",
  },
  SERVER_IMPORT_FILE_TOO_LARGE: {
    cause: "A server.json has more than 1 MiB. It is data of a stranger, so it is bounded.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    before: ["yes '          ' | head -c 1100000 > server.json"],
    run: "toolcrib import server server.json",
    fix: "Import the server.json of one server.",
  },
  SERVER_IMPORT_LEFT_OUT: {
    cause:
      "A part of the file has no equivalent in the configuration and is not imported; the message says which.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0",
  "packages": [{ "registryType": "npm", "identifier": "mcp-notes", "version": "1.0.0", "runtimeHint": "deno", "transport": { "type": "stdio" } }] }
`,
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Read what was left out. Check it yourself if the server does not start.",
  },
  SERVER_IMPORT_LOADER_VARIABLE: {
    cause:
      "The file sets a variable, such as NODE_OPTIONS, that chooses the code that programs load. A server.json could run any code in this way.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0",
  "packages": [{ "registryType": "npm", "identifier": "mcp-notes", "version": "1.0.0", "transport": { "type": "stdio" },
    "environmentVariables": [{ "name": "NODE_OPTIONS", "value": "--require ./x.js" }] }] }
`,
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Use another version of the server. If you know why it is needed, set it deliberately: --set NODE_OPTIONS=VALUE.",
  },
  SERVER_IMPORT_SECRET_EXPOSED: {
    cause:
      "A secret would be in a place that others can read: in the file itself, in arguments (which every user of a machine sees), or on the command line.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0",
  "packages": [{ "registryType": "npm", "identifier": "mcp-notes", "version": "1.0.0", "transport": { "type": "stdio" },
    "environmentVariables": [{ "name": "NOTES_TOKEN", "isSecret": true, "value": "abcdef0123456789" }] }] }
`,
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Store it with toolcrib secret set NAME, and import with --secret NOTES_TOKEN=NAME.",
  },
  SERVER_IMPORT_SIGNATURE_INVALID: {
    cause: "The bundle was changed after it was signed, or its signature is damaged.",
    did: "A file in a signed bundle was replaced.",
    prints:
      "The signature of the bundle is not valid: its digest is another one\nget the bundle from its publisher again; do not use this one",
    unrun: "setup",
    tested: "packages/cli/test/import-bundle.process.test.ts",
    fix: "Get the bundle from its publisher again; do not use this one.",
  },
  SERVER_IMPORT_SYNTAX: {
    cause: "The file is not JSON that can be read.",
    files: { "server.json": '{ "name": "io.example/notes",\n' },
    run: "toolcrib import server server.json --dry-run",
    fix: "Correct the place that the message shows. An HTML page was often saved instead of the file.",
  },
  SERVER_IMPORT_TOO_COMPLEX: {
    cause: "The file is nested more deeply than is read.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    before: ["echo $(printf '%200s' | tr ' ' '[')$(printf '%200s' | tr ' ' ']') > server.json"],
    run: "toolcrib import server server.json",
    fix: "Do not use the file; report it to the registry that has it.",
  },
  SERVER_IMPORT_UNPINNED: {
    cause: "The package has no exact version, so each start could run another program.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0",
  "packages": [{ "registryType": "npm", "identifier": "mcp-notes", "version": "latest", "transport": { "type": "stdio" } }] }
`,
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Ask the publisher for an exact version, or write the entry yourself with the version that you checked.",
  },
  SERVER_IMPORT_UNSUPPORTED: {
    cause: "The server cannot be started or reached in the way that its file describes.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0",
  "packages": [{ "registryType": "floppy", "identifier": "notes", "version": "1.0.0", "transport": { "type": "stdio" } }] }
`,
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Choose another of its packages or endpoints (--list, --use), or write the entry yourself.",
  },
  SERVER_IMPORT_VALUE_INVALID: {
    cause: "A value of the file, or one that was given with --set, is not allowed there.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0",
  "packages": [{ "registryType": "npm", "identifier": "mcp-notes", "version": "1.0.0", "transport": { "type": "stdio" } }] }
`,
    },
    run: "toolcrib import server server.json --dry-run --set color=red",
    fix: "Use an input that the server has; the findings name them.",
  },
  SERVER_IMPORT_VALUE_MISSING: {
    cause: "The server asks for a value that its file does not contain, such as a folder.",
    files: {
      "server.json": `{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0",
  "packages": [{ "registryType": "npm", "identifier": "mcp-notes", "version": "1.0.0", "transport": { "type": "stdio" },
    "environmentVariables": [{ "name": "NOTES_FOLDER", "isRequired": true }] }] }
`,
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Give it: --set NOTES_FOLDER=VALUE; for a secret, --secret NAME=STORED.",
  },
  SERVER_IMPORT_WRONG_TYPE: {
    cause: "A value has another type than the format says.",
    files: {
      "server.json":
        '{ "name": "io.example/notes", "description": "Notes", "version": "1.0.0", "packages": {} }\n',
    },
    run: "toolcrib import server server.json --dry-run",
    fix: "Get a correct file from the publisher.",
  },
};
