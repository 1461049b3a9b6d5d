/** Explanations of the codes of the package mcpkg-install. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { packageFiles } from "../samples.ts";

export const explanations: Explanations = {
  INSTALL_BUSY: {
    cause: "Another command installs or removes packages in the same home and does not finish.",
    did: "Two terminals run toolcrib install at the same time, and one waits for an answer.",
    prints: "Another command installs or removes packages, and does not finish\ntry again when it has ended",
    unrun: "moment",
    tested: "packages/cli/test/install-busy.process.test.ts",
    fix: "Answer or end the other command, and repeat.",
  },
  INSTALL_CHAIN_CYCLE: {
    cause: "Chains call each other in a circle, which would never end.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      "a/manifest.json":
        '{\n  "toolId": "demo.a",\n  "name": "A",\n  "version": "0.1.0",\n  "description": "Calls demo.b.",\n  "capabilities": ["demo"],\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" },\n  "chain": [{ "step": "one", "tool": "demo.b", "inputMapping": {}, "outputKey": "found" }]\n}\n',
      "b/manifest.json":
        '{\n  "toolId": "demo.b",\n  "name": "B",\n  "version": "0.1.0",\n  "description": "Calls demo.a.",\n  "capabilities": ["demo"],\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" },\n  "chain": [{ "step": "one", "tool": "demo.a", "inputMapping": {}, "outputKey": "found" }]\n}\n',
    },
    run: "toolcrib install ./a ./b --yes",
    fix: "Remove one of the steps in its package.",
  },
  INSTALL_CHANGE_PENDING: {
    cause:
      "A command that changed packages was killed, and the folder that it changed cannot be reached now. The change is completed when it can.",
    did: "A project on an external disk was removed after a killed install.",
    prints:
      'An interrupted change of demo.echo in "/mnt/disk/project" cannot be completed, and stays pending: ENOENT\nrestore that folder, and install or remove a package there; other places are not affected',
    unrun: "machine",
    tested: "packages/mcpkg-install/test/pending-elsewhere.test.ts",
    fix: "Connect the disk or restore the folder, and run an install or uninstall there.",
  },
  INSTALL_DIGEST_MISMATCH: {
    cause:
      "The archive is not the one that the registry or mcp.lock names: it was changed, damaged or exchanged.",
    did: "A mirror serves another archive than the signed index names.",
    prints:
      'Cannot install "demo.echo": the registry states the digest sha256:aa, and the archive has sha256:bb\nthe archive was changed or damaged; do not use this registry until you know why',
    unrun: "setup",
    tested: "packages/mcpkg-install/test/places.security.test.ts",
    fix: "Do not use the archive. Ask the publisher or operator; for a lock file, get the locked archive.",
  },
  INSTALL_DOWNGRADE: {
    cause:
      "The package is older than the one that is installed or locked. Old versions can have known faults, and an attacker could offer one.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo",
      "sed -i s/0.1.0/0.2.0/ echo/manifest.json",
      "toolcrib pack echo",
      "toolcrib install demo.echo-0.2.0.mcpkg --yes",
    ],
    run: "toolcrib install demo.echo-0.1.0.mcpkg --yes",
    repaired: { run: "toolcrib install demo.echo-0.1.0.mcpkg --yes --allow-downgrade" },
    fix: "Install the newer version, or add --allow-downgrade if you mean it.",
  },
  INSTALL_FOLDER_TAKEN: {
    cause: "The folder for the package has something that Toolcrib did not install. It is not overwritten.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo",
      "mkdir -p .mcp/tools/demo.echo; echo mine > .mcp/tools/demo.echo/notes.txt",
    ],
    run: "toolcrib install demo.echo-0.1.0.mcpkg --yes",
    repaired: { run: "toolcrib install demo.echo-0.1.0.mcpkg --yes --allow-replacing-folder" },
    fix: "Move it away, or add --allow-replacing-folder to have it removed.",
  },
  INSTALL_FOLDER_UNUSABLE: {
    cause: "The folder for packages cannot be used: it is a link or a file, or permissions are missing.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: ["toolcrib pack echo", "mkdir .mcp elsewhere; ln -s ../elsewhere .mcp/tools"],
    run: "toolcrib install demo.echo-0.1.0.mcpkg --yes",
    repaired: { before: ["rm .mcp/tools"] },
    fix: "Remove the link, and install again.",
  },
  INSTALL_KEY_CHANGED: {
    cause:
      "The package is signed by another key than the one that was remembered for its toolId. Either the publisher has a new key, or somebody else made the package.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo --sign",
      "toolcrib install demo.echo-0.1.0.mcpkg --yes",
      "openssl genpkey -algorithm ed25519 -out new.pem",
      "sed -i s/0.1.0/0.2.0/ echo/manifest.json",
      "toolcrib pack echo",
      "toolcrib sign demo.echo-0.2.0.mcpkg --key new.pem",
    ],
    run: "toolcrib install demo.echo-0.2.0.mcpkg --yes",
    fix: "Ask the publisher over another way. If the new key is confirmed, add --allow-key as the hint shows.",
  },
  INSTALL_KEY_MISMATCH: {
    cause:
      "The package is not signed by the key that was asked for with --key-id, or that the registry states.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: ["toolcrib pack echo"],
    run: "toolcrib install demo.echo-0.1.0.mcpkg --yes --key-id sha256:1111111111111111111111111111111111111111111111111111111111111111",
    fix: "Compare the key with the one that the publisher states, and get the right package.",
  },
  INSTALL_LOCK_INVALID: {
    cause: "mcp.lock cannot be used: it is missing, damaged, or from a later version.",
    files: { "toolcrib.yaml": "tool_servers: []\n", "mcp.lock": "not a lock file\n" },
    run: "toolcrib install --locked --yes",
    fix: "Restore it from version control, or delete it and write it again: toolcrib lock.",
  },
  INSTALL_NOT_FOUND: {
    cause:
      "No package with this toolId is installed in this place. It may be installed for the user instead of the project.",
    run: "toolcrib uninstall demo.absent",
    fix: "toolcrib info lists what is installed and where; add --user for packages of the user.",
  },
  INSTALL_NO_REGISTRY: {
    cause: "A toolId has to be found in a registry, and none is configured.",
    run: "toolcrib install demo.echo --yes",
    fix: "Name a registry with --registry, add one to registries in toolcrib.yaml, or install a file: ./demo.echo.mcpkg.",
  },
  INSTALL_PACKAGE_CHANGED: {
    cause: "The files of an installed package are not those of its archive. A changed program is not run.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo",
      "toolcrib install demo.echo-0.1.0.mcpkg --yes",
      "chmod -R u+w .mcp; sed -i s/hello/bye/ .mcp/tools/demo.echo/0.1.0/tests/echo.test.json .mcp/tools/demo.echo/tests/echo.test.json 2>/dev/null || true",
    ],
    run: "toolcrib info demo.echo",
    fix: "Install it again: toolcrib install FILE. For a change of your own, raise the version, pack and install it.",
  },
  INSTALL_PACKAGE_INVALID: {
    cause: "The package has errors; the output lists them. It is not installed.",
    files: packageFiles({ version: "1.0" }),
    run: "toolcrib install ./echo --yes",
    fix: "toolcrib validate shows all errors with their places. Report them to the publisher.",
  },
  INSTALL_PACKAGE_NOT_FOUND: {
    cause: "No registry has a package of this toolId with a version in the range.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    before: ["toolcrib registry init registry"],
    run: "toolcrib install demo.echo@^2 --registry ./registry --yes",
    fix: "Search for it: toolcrib registry search NAME; name pre-releases exactly.",
  },
  INSTALL_REACH_NOT_APPROVED: {
    cause:
      "The program of the package can call other tools, and they have to be approved by name, because it calls them as you.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      "report/manifest.json":
        '{\n  "toolId": "demo.report",\n  "name": "Report",\n  "version": "0.1.0",\n  "description": "Finds, and reports.",\n  "capabilities": ["demo"],\n  "endpoint": { "type": "starlark", "source": "main.star", "tools": ["notes:search"] },\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" }\n}\n',
      "report/main.star": 'return {"found": notes.search({"query": "milk"})}\n',
    },
    run: "toolcrib install ./report --yes",
    repaired: { run: "toolcrib install ./report --yes --allow-tool notes:search" },
    fix: "Read the program, then add --allow-tool for each tool that it may call.",
  },
  INSTALL_RECORD_UNREADABLE: {
    cause:
      "The record of installed packages in the home cannot be read. It has the pinned keys of publishers, so nothing is installed without it.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo",
      "toolcrib install demo.echo-0.1.0.mcpkg --yes",
      "for f in $(grep -rl demo.echo .toolcrib --include=*.json .mcp/*.json); do echo no > $f; done",
    ],
    run: "toolcrib install demo.echo-0.1.0.mcpkg --yes",
    fix: "Restore it from a backup. Otherwise move it away and install the packages again, comparing keys.",
  },
  INSTALL_RELEASE_CHANGED: {
    cause:
      "The same version is installed or locked with other content. A release never changes; somebody replaced it.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo",
      "toolcrib install demo.echo-0.1.0.mcpkg --yes",
      "sed -i s/Returns/Repeats/ echo/manifest.json",
      "toolcrib pack echo --force",
    ],
    run: "toolcrib install demo.echo-0.1.0.mcpkg --yes",
    repaired: { run: "toolcrib install demo.echo-0.1.0.mcpkg --yes --allow-changed-release" },
    fix: "Ask the publisher. If it is right, add --allow-changed-release.",
  },
  INSTALL_SIGNATURE_STRIPPED: {
    cause:
      "The package is not signed, and the one before it was. Somebody may have removed the signature to hide a change.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo --sign",
      "toolcrib install demo.echo-0.1.0.mcpkg --yes",
      "sed -i s/0.1.0/0.2.0/ echo/manifest.json",
      "toolcrib pack echo",
    ],
    run: "toolcrib install demo.echo-0.2.0.mcpkg --yes",
    repaired: { run: "toolcrib install demo.echo-0.2.0.mcpkg --yes --allow-stripped-signature" },
    fix: "Ask the publisher for a signed one.",
  },
  INSTALL_SOURCE_INVALID: {
    cause: "What is to be installed is not a file, a folder, an https URL or a toolId with a range.",
    run: "toolcrib install 'demo.echo@latest-ish' --yes",
    fix: "Write a file (./echo.mcpkg), an https URL, or a toolId such as demo.echo@^1.2.",
  },
  INSTALL_SOURCE_UNUSABLE: {
    cause: "The archive or folder cannot be read, or its URL cannot be fetched.",
    run: "toolcrib install ./absent.mcpkg --yes",
    fix: "Correct the path or URL, and check that this user can read the file.",
  },
  INSTALL_TOOLS_MISSING: {
    cause: "A chain calls tools that are neither installed nor in a registry.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      "report/manifest.json":
        '{\n  "toolId": "demo.report",\n  "name": "Report",\n  "version": "0.1.0",\n  "description": "Searches, and reports.",\n  "capabilities": ["demo"],\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" },\n  "chain": [{ "step": "one", "tool": "demo.search", "inputMapping": {}, "outputKey": "found" }]\n}\n',
    },
    run: "toolcrib install ./report --yes",
    fix: "Install them first, or name their files in the same command.",
  },
  INSTALL_TOOL_NEEDED: {
    cause: "A chain of another package calls the one that is to be removed.",
    files: {
      ...packageFiles({}),
      "toolcrib.yaml": "tool_servers: []\n",
      "report/manifest.json":
        '{\n  "toolId": "demo.report",\n  "name": "Report",\n  "version": "0.1.0",\n  "description": "Repeats, and reports.",\n  "capabilities": ["demo"],\n  "input_schema": { "type": "object" },\n  "output_schema": { "type": "object" },\n  "chain": [{ "step": "one", "tool": "demo.echo", "inputMapping": { "message": "hello" }, "outputKey": "found" }]\n}\n',
    },
    before: ["toolcrib install ./echo ./report --yes"],
    run: "toolcrib uninstall demo.echo",
    repaired: { run: "toolcrib uninstall demo.echo demo.report" },
    fix: "Remove both in one command.",
  },
  INSTALL_TOOL_TWICE: {
    cause: "Two of the sources are the same tool; only one can be installed.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: ["toolcrib pack echo"],
    run: "toolcrib install demo.echo-0.1.0.mcpkg ./echo --yes",
    fix: "Name one of them.",
  },
  INSTALL_TOO_LARGE: {
    cause:
      "One command would install more packages or bytes than is allowed, or the record of the home is full.",
    did: "A folder of hundreds of archives is named.",
    prints:
      "Cannot install more packages: the record of the home is full\nuninstall some that are not needed",
    unrun: "load",
    tested: "packages/mcpkg-install/test/chains.test.ts",
    fix: "Install some of them first, in commands of their own, and uninstall what is not needed.",
  },
  INSTALL_UNSIGNED: {
    cause: "The package comes from a URL or a registry and is not signed, so nothing says who made it.",
    files: { ...packageFiles({}), "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "toolcrib pack echo",
      "toolcrib registry init registry",
      "toolcrib registry add registry demo.echo-0.1.0.mcpkg --allow-unsigned",
    ],
    run: "toolcrib install demo.echo --registry ./registry --yes",
    repaired: { run: "toolcrib install demo.echo --registry ./registry --yes --allow-unsigned" },
    fix: "Ask the publisher for a signed one. If you know the file, compare its digest and add --allow-unsigned.",
  },
};
