/** Explanations of the codes of the package mcpkg-registry. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  MCPKG_REGISTRY_DIGEST_MISMATCH: {
    cause:
      "A file is not the one that the signed index names: a mirror or proxy changed it, or the copy is incomplete.",
    did: "A mirror is read while it is being updated.",
    prints:
      'The index of the registry "acme" is not used: packages.json is not the file that the signed index.json names\na mirror or a proxy changed it, or the copy is not complete: try again, or use the registry itself',
    unrun: "packages",
    fix: "Try again later, or use the registry itself. Its operator checks it with toolcrib registry verify FOLDER.",
  },
  MCPKG_REGISTRY_EXPIRED: {
    cause:
      "An index is valid until a date, so that an old copy cannot be shown for ever. The date has passed.",
    did: "Nobody renewed the registry for months.",
    prints:
      'The index of the registry "acme" is not used: it expired on 2026-10-01\nits operator renews it with: toolcrib registry renew FOLDER; a mirror may serve an old copy of https://registry.example/',
    unrun: "packages",
    fix: "Its operator runs toolcrib registry renew FOLDER. Check the clock of this machine too.",
  },
  MCPKG_REGISTRY_FOLDER_INVALID: {
    cause: "A folder is not a registry, or is one already, or another command is changing it.",
    did: "toolcrib registry add ./folder echo.mcpkg is run, and the folder is no registry.",
    prints:
      '"./folder" is not a registry: it has no index.json\ncreate one with: toolcrib registry init ./folder',
    unrun: "setup",
    fix: "Create a registry with toolcrib registry init FOLDER, or name the right folder.",
  },
  MCPKG_REGISTRY_INDEX_INVALID: {
    cause: "The index is signed, but does not have the form of an index that this version knows.",
    did: "A registry was written by a later version of Toolcrib.",
    prints: "Cannot read the index: its formatVersion is 3\na later version of Toolcrib may have written it",
    unrun: "packages",
    fix: "Update Toolcrib, or ask the operator of the registry.",
  },
  MCPKG_REGISTRY_KEY_MISMATCH: {
    cause:
      "The index is signed by another key than the known one. Either its operator replaced the key without a signed replacement, or somebody else answers.",
    did: "A registry was set up again with a new key.",
    prints:
      'The index of the registry "acme" is not used: it is signed by ed25519:new, and its key is ed25519:old (the configuration)\nask its operator, not over the same connection; if the key was replaced, accept it in the configuration of this registry: key: ed25519:new',
    unrun: "packages",
    fix: "Ask the operator over another way. If the new key is right, write it as key of the registry in toolcrib.yaml.",
  },
  MCPKG_REGISTRY_LISTEN_FAILED: {
    cause: "The server of a registry cannot listen: the address is in use, or not of this machine.",
    did: "toolcrib registry serve is started twice.",
    prints: "Cannot listen on 127.0.0.1:8080: EADDRINUSE\nchoose another address: --listen 127.0.0.1:PORT",
    unrun: "machine",
    fix: "Stop the other program, or choose another port.",
  },
  MCPKG_REGISTRY_PACKAGE_INVALID: {
    cause: "A package with errors is not added, because nobody could install it.",
    did: "A package with a version of 1.0 is added.",
    prints: 'Cannot add "echo.mcpkg": it has 1 error(s)',
    unrun: "packages",
    fix: "toolcrib validate FILE shows the errors. Repair, pack and sign it again.",
  },
  MCPKG_REGISTRY_PACKAGE_NOT_FOUND: {
    cause: "None of the registries has a package of this toolId.",
    did: "toolcrib registry list is asked for demo.absent.",
    prints: "No registry has the package demo.absent\nregistries that were searched: acme",
    unrun: "packages",
    fix: "Search with toolcrib registry search WORDS; add the registry that has it.",
  },
  MCPKG_REGISTRY_PACKAGE_UNSIGNED: {
    cause: "A registry has signed packages, so that clients know their publishers. This one is not signed.",
    did: "An archive is added before it was signed.",
    prints:
      "Cannot add demo.echo 0.1.0: it is not signed\nsign it with: toolcrib sign FILE, or accept it with --allow-unsigned",
    unrun: "packages",
    fix: "Sign it: toolcrib sign FILE.",
  },
  MCPKG_REGISTRY_PLACE_INVALID: {
    cause: "The address of a registry is a folder or an https URL (http to this machine only).",
    run: "toolcrib registry search echo --registry ftp://registry.example/",
    fix: "Write https://HOST/PATH/, or the path of a folder.",
  },
  MCPKG_REGISTRY_PUBLISHER_CHANGED: {
    cause: "A version is signed by another key than the earlier versions of the package.",
    did: "Another publisher signs a version of demo.echo.",
    prints:
      "Cannot add demo.echo 0.2.0: it is signed by ed25519:new, and 0.1.0 by ed25519:old\nsign it with the key of the earlier versions, or accept the new key with --allow-new-key",
    unrun: "packages",
    fix: "Sign it with the key of the earlier versions. If the publisher has a new key, add --allow-new-key.",
  },
  MCPKG_REGISTRY_RANGE_INVALID: {
    cause: "What follows @ is no range of versions of SemVer.",
    did: "A chain asks for demo.echo@newest.",
    prints:
      "Cannot resolve demo.echo@newest: it is not a range of SemVer\nwrite a version such as 1.2.0, or a range such as ^1.2 or >=1.0 <3",
    unrun: "packages",
    fix: "Write a version such as 1.2.0, or a range such as ^1.2.",
  },
  MCPKG_REGISTRY_RESPONSE_INVALID: {
    cause:
      "The web server of the registry answers with another status than 200 or 304: a wrong path, a login, a redirect.",
    did: "The URL of a registry misses its folder.",
    prints:
      'Cannot read "https://registry.example/index.json": the response is HTTP 404\ncheck the URL of the registry: index.json must be there, and all files that it names',
    unrun: "remote",
    fix: "Correct the URL: index.json is directly below it. Redirects are not followed; write their target if you trust it.",
  },
  MCPKG_REGISTRY_ROLLED_BACK: {
    cause:
      "The index is older than one that was seen before, or contradicts it. Someone could hide a withdrawn version in this way.",
    did: "A cache serves an old copy.",
    prints:
      'The index of the registry "acme" is not used: it is number 7 of 2026-01-01, and number 9 was seen before\na mirror or a cache serves an old copy: use the registry itself, or wait until the copy is current',
    unrun: "packages",
    fix: "Use the registry itself, or wait. If it persists, ask the operator whether a backup was restored.",
  },
  MCPKG_REGISTRY_SIGNATURE_INVALID: {
    cause: "The index is not signed, or was changed after it was signed.",
    did: "Someone edited index.json.",
    prints:
      "The index of the registry is not used: The signature of the statement is not valid: it was changed\nits operator checks it with: toolcrib registry verify FOLDER",
    unrun: "packages",
    fix: "Its operator checks it with toolcrib registry verify FOLDER, and signs it again with toolcrib registry renew FOLDER.",
  },
  MCPKG_REGISTRY_STATE_BUSY: {
    cause: "Another command remembers the key of the same registry.",
    did: "Two terminals use a registry for the first time.",
    prints:
      'Cannot remember the key of https://registry.example/: another command holds "state.lock"\ntry again when it has ended',
    unrun: "moment",
    fix: "Try again when it has ended.",
  },
  MCPKG_REGISTRY_STATE_INVALID: {
    cause: "What the home remembers of a registry (its key, the last index) is damaged.",
    did: "The file was edited by hand.",
    prints:
      'Cannot read "state.json": it has the pinned key of a registry, and is damaged\nremove the folder, and compare the key that is shown at the next use with the one that the registry\'s operator states',
    unrun: "damage",
    fix: "Remove the folder that the message names, and compare the key that is shown next with the one that the operator states.",
  },
  MCPKG_REGISTRY_TIMED_OUT: {
    cause: "The registry did not send a file in time.",
    did: "A slow connection and a large archive.",
    prints:
      'Cannot read "https://registry.example/index.json": the registry did not send it in 30000 ms\ntry again later',
    unrun: "remote",
    fix: "Try again later, or use a nearer copy.",
  },
  MCPKG_REGISTRY_TOO_LARGE: {
    cause: "An index, a package, or all indexes together are larger than is read.",
    did: "A registry has a hundred thousand versions.",
    prints: "The registries together are too large: 300 MB\nname fewer of them, with --registry",
    unrun: "packages",
    fix: "Name fewer registries with --registry. The operator can divide a large registry.",
  },
  MCPKG_REGISTRY_UNREACHABLE: {
    cause: "The registry cannot be reached, or a file of it cannot be read.",
    did: "The machine has no network.",
    prints: 'Cannot read "https://registry.example/index.json": getaddrinfo ENOTFOUND registry.example',
    unrun: "remote",
    fix: "Check the URL, the network and the proxy. For a folder, check that this user can read it.",
  },
  MCPKG_REGISTRY_VERSION_EXISTS: {
    cause: "The registry has this version already, with other content. Released versions never change.",
    did: "A package is repaired and added again without a new version.",
    prints:
      "Cannot add demo.echo 0.1.0: the registry has this version already, with other contents (sha256:aa)\nraise the version in manifest.json, and pack it again",
    unrun: "packages",
    fix: "Raise the version in manifest.json, pack, sign and add it.",
  },
  MCPKG_REGISTRY_VERSION_NOT_FOUND: {
    cause:
      "The registry has the package, but no version in the range. Withdrawn versions and pre-releases count only when they are named exactly.",
    did: "A version that the registry does not have is to be withdrawn.",
    prints: '"registry" has no demo.echo 9.0.0\nit has 0.1.0, 0.2.0',
    unrun: "packages",
    fix: "Name one of the versions that the hint lists.",
  },
  SERVER_IMPORT_BUNDLE_INVALID: {
    cause: "A bundle (.mcpb) has no manifest, or lacks a file that its manifest names.",
    did: "A ZIP archive of another program is imported as a bundle.",
    prints: 'The bundle has no "manifest.json" at its top',
    unrun: "packages",
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
    did: "A file of the whole registry is imported instead of one server.",
    prints: "The server.json has 2097152 characters; at most 1048576 are allowed",
    unrun: "setup",
    fix: "Import the server.json of one server.",
  },
  SERVER_IMPORT_LEFT_OUT: {
    cause:
      "A part of the file has no equivalent in the configuration and is not imported; the message says which.",
    did: "A bundle states which versions of other programs it needs.",
    prints: "What the server needs is not checked: node >=20",
    unrun: "packages",
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
    unrun: "packages",
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
    did: "A server.json that was made to harm has thousands of brackets.",
    prints: "Cannot read the server.json: it nests deeper than 64 levels",
    unrun: "setup",
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
