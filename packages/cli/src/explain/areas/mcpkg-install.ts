/** Explanations of the codes of the package mcpkg-install. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { packageFiles } from "../samples.ts";

export const explanations: Explanations = {
  INSTALL_BUSY: {
    cause: "Another command installs or removes packages in the same home and does not finish.",
    did: "Two terminals run toolcrib install at the same time, and one waits for an answer.",
    prints: "Another command installs or removes packages, and does not finish\ntry again when it has ended",
    unrun: "moment",
    fix: "Answer or end the other command, and repeat.",
  },
  INSTALL_CHAIN_CYCLE: {
    cause: "Chains call each other in a circle, which would never end.",
    did: "demo.a calls demo.b, and demo.b calls demo.a.",
    prints:
      "Nothing is installed: chains call each other: demo.a → demo.b → demo.a\na chain that reaches itself never ends; remove one of these steps",
    unrun: "packages",
    fix: "Remove one of the steps in its package.",
  },
  INSTALL_CHANGE_PENDING: {
    cause:
      "A command that changed packages was killed, and the folder that it changed cannot be reached now. The change is completed when it can.",
    did: "A project on an external disk was removed after a killed install.",
    prints:
      'An interrupted change of demo.echo in "/mnt/disk/project" cannot be completed, and stays pending: ENOENT\nrestore that folder, and install or remove a package there; other places are not affected',
    unrun: "damage",
    fix: "Connect the disk or restore the folder, and run an install or uninstall there.",
  },
  INSTALL_DIGEST_MISMATCH: {
    cause:
      "The archive is not the one that the registry or mcp.lock names: it was changed, damaged or exchanged.",
    did: "A mirror serves another archive than the signed index names.",
    prints:
      'Cannot install "demo.echo": the registry states the digest sha256:aa, and the archive has sha256:bb\nthe archive was changed or damaged; do not use this registry until you know why',
    unrun: "packages",
    fix: "Do not use the archive. Ask the publisher or operator; for a lock file, get the locked archive.",
  },
  INSTALL_DOWNGRADE: {
    cause:
      "The package is older than the one that is installed or locked. Old versions can have known faults, and an attacker could offer one.",
    did: "Version 1.1.0 is installed, and a file of 1.0.0 is to be.",
    prints:
      "Cannot install demo.echo 1.0.0: version 1.1.0 is installed, which is newer\nold versions can have known faults; to go back nevertheless, add --allow-downgrade",
    unrun: "packages",
    fix: "Install the newer version, or add --allow-downgrade if you mean it.",
  },
  INSTALL_FOLDER_TAKEN: {
    cause: "The folder for the package has something that Toolcrib did not install. It is not overwritten.",
    did: "A folder .mcp/tools/demo.echo was made by hand.",
    prints:
      'Cannot install demo.echo 0.1.0: ".mcp/tools/demo.echo" has other content, and Toolcrib did not install it\nmove it away; to remove it and install the package in its place, add --allow-replacing-folder',
    unrun: "packages",
    fix: "Move it away, or add --allow-replacing-folder to have it removed.",
  },
  INSTALL_FOLDER_UNUSABLE: {
    cause: "The folder for packages cannot be used: it is a link or a file, or permissions are missing.",
    did: ".mcp/tools is a symbolic link.",
    prints:
      'Cannot use ".mcp/tools": it is a link or a file\npackages are installed in real folders; remove it',
    unrun: "packages",
    fix: "Remove the link, and install again.",
  },
  INSTALL_KEY_CHANGED: {
    cause:
      "The package is signed by another key than the one that was remembered for its toolId. Either the publisher has a new key, or somebody else made the package.",
    did: "A publisher lost the key and signs with a new one.",
    prints:
      "Cannot install demo.echo 0.2.0: it is signed by ed25519:new, and the key of this tool is ed25519:old\nif its publisher confirms the new key, add --allow-key ed25519:new",
    unrun: "packages",
    fix: "Ask the publisher over another way. If the new key is confirmed, add --allow-key as the hint shows.",
  },
  INSTALL_KEY_MISMATCH: {
    cause:
      "The package is not signed by the key that was asked for with --key-id, or that the registry states.",
    did: "toolcrib install echo.mcpkg --key-id KEY is run with the id of another publisher.",
    prints:
      "Cannot install demo.echo 0.1.0: it is not signed, and --key-id names ed25519:old\nget the package from its publisher, and compare the key with the one that the publisher states",
    unrun: "packages",
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
    did: "Someone edited a file below .mcp/tools.",
    prints: "Cannot use the package demo.echo 0.1.0: this version of Toolcrib refuses it",
    unrun: "damage",
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
    did: "demo.echo@^2 is to be installed, and the registry has 1.4.0.",
    prints:
      "The registries have no package demo.echo with a version in ^2\nsearch with: toolcrib registry search demo.echo; pre-releases and withdrawn versions must be named exactly",
    unrun: "packages",
    fix: "Search for it: toolcrib registry search NAME; name pre-releases exactly.",
  },
  INSTALL_REACH_NOT_APPROVED: {
    cause:
      "The program of the package can call other tools, and they have to be approved by name, because it calls them as you.",
    did: "A package whose program calls github:create_issue is installed without --allow-tool.",
    prints:
      "Nothing is installed: the program of demo.report 1.0.0 can call github:create_issue, which you have not approved for it\nread the program, then approve these tools: --allow-tool github:create_issue",
    unrun: "packages",
    fix: "Read the program, then add --allow-tool for each tool that it may call.",
  },
  INSTALL_RECORD_UNREADABLE: {
    cause:
      "The record of installed packages in the home cannot be read. It has the pinned keys of publishers, so nothing is installed without it.",
    did: "The record was edited by hand.",
    prints:
      'Cannot read the record of installed packages "/home/ada/.toolcrib/packages.json": it is not JSON\nrestore the file; or move it away and install the packages again (pinned keys of publishers are then forgotten)',
    unrun: "damage",
    fix: "Restore it from a backup. Otherwise move it away and install the packages again, comparing keys.",
  },
  INSTALL_RELEASE_CHANGED: {
    cause:
      "The same version is installed or locked with other content. A release never changes; somebody replaced it.",
    did: "A publisher rebuilt 1.0.0 instead of releasing 1.0.1.",
    prints:
      "Cannot install demo.echo 1.0.0: the same version is installed with other content: sha256:aa, and this is sha256:bb\na release never changes; if its publisher replaced it, add --allow-changed-release",
    unrun: "packages",
    fix: "Ask the publisher. If it is right, add --allow-changed-release.",
  },
  INSTALL_SIGNATURE_STRIPPED: {
    cause:
      "The package is not signed, and the one before it was. Somebody may have removed the signature to hide a change.",
    did: "A new version was packed without signing.",
    prints:
      "Cannot install demo.echo 0.2.0: it is not signed, and the one before it was signed by ed25519:old\nsomebody may have removed the signature; if its publisher confirms it, add --allow-stripped-signature",
    unrun: "packages",
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
    did: "A chain that calls demo.search is installed alone.",
    prints:
      "Nothing is installed: a chain needs demo.search (for demo.report)\ninstall them first, or name their files in the same command; they are not installed, and no registry has demo.search",
    unrun: "packages",
    fix: "Install them first, or name their files in the same command.",
  },
  INSTALL_TOOL_NEEDED: {
    cause: "A chain of another package calls the one that is to be removed.",
    did: "demo.search is removed while demo.report uses it.",
    prints:
      "Nothing is removed: the chain of demo.report calls demo.search\nremove both in one command; to remove it nevertheless, add --allow-broken-chains",
    unrun: "packages",
    fix: "Remove both in one command.",
  },
  INSTALL_TOOL_TWICE: {
    cause: "Two of the sources are the same tool; only one can be installed.",
    did: "Two files of demo.echo are named in one command.",
    prints: 'Cannot install demo.echo twice: it is in "a.mcpkg" and in "b.mcpkg"',
    unrun: "packages",
    fix: "Name one of them.",
  },
  INSTALL_TOO_LARGE: {
    cause:
      "One command would install more packages or bytes than is allowed, or the record of the home is full.",
    did: "A folder of hundreds of archives is named.",
    prints:
      "Cannot install more packages: the record of the home is full\nuninstall some that are not needed",
    unrun: "load",
    fix: "Install some of them first, in commands of their own, and uninstall what is not needed.",
  },
  INSTALL_UNSIGNED: {
    cause: "The package comes from a URL or a registry and is not signed, so nothing says who made it.",
    did: "An unsigned archive is installed from a web page.",
    prints:
      "Cannot install demo.echo 0.1.0: it is not signed, and comes from a URL\nask its publisher for a signed one; to install it nevertheless, add --allow-unsigned",
    unrun: "packages",
    fix: "Ask the publisher for a signed one. If you know the file, compare its digest and add --allow-unsigned.",
  },
};
