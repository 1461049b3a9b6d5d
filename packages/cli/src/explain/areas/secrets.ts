/** Explanations of the codes of the package secrets. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library } from "../samples.ts";

export const explanations: Explanations = {
  SECRETS_BUSY: {
    cause: "Another process holds the lock of the secret store for too long.",
    files: library(
      'const secrets = await openSecretStore({ home: ".toolcrib", env: {} }, { now: Date.now, randomBytes });',
      'await secrets.set("token", "abc");',
      'const lock = tryLock(".toolcrib/secrets/.store", "write", "exclusive");',
      'await secrets.set("token", "def").finally(() => lock[Symbol.dispose]());',
    ),
    did: "Another process holds the lock, which here is the program itself.",
    run: "node program.mjs",
    fix: "Try again. If it persists, find the toolcrib process that hangs (fuser ~/.toolcrib/secrets/.store/write.lock) and end it.",
  },
  SECRETS_DAMAGED: {
    cause:
      "A file of the secret store was changed, replaced or cut off outside Toolcrib, so that it cannot be trusted or decrypted.",
    files: { "token.txt": "abc\n" },
    before: [
      "toolcrib secret set notes-token < token.txt",
      "yes more | head -c 200000 >> .toolcrib/secrets/.store/notes-token.sealed",
    ],
    run: "toolcrib secret test notes-token",
    fix: "Restore the file from a backup, or set the secret again: toolcrib secret rm NAME, then toolcrib secret set NAME.",
  },
  SECRETS_EXISTS: {
    cause:
      "A secret with this name, or with one that differs in case only, exists. On some file systems both would be the same file.",
    files: { "token.txt": "abc\n" },
    before: ["toolcrib secret set github-token < token.txt"],
    run: "toolcrib secret set GitHub-Token < token.txt",
    fix: "Use the existing name, choose another, or remove the old one: toolcrib secret rm github-token.",
  },
  SECRETS_EXPOSED: {
    cause:
      "A secret file, the key of the store or their folder can be read or changed by other users of the machine. It is not used, so that the problem is seen.",
    files: { "token.txt": "abc\n" },
    before: ["toolcrib secret set notes-token < token.txt", "chmod 755 .toolcrib/secrets/.store"],
    run: "toolcrib secret test notes-token",
    repaired: { before: ["chmod 700 .toolcrib/secrets/.store"] },
    fix: "Run the chmod of the hint, or toolcrib doctor --fix. If others may have read the secrets, replace them at their services.",
  },
  SECRETS_FULL: {
    cause: "The store has its maximum number of secrets.",
    files: { "token.txt": "abc\n" },
    before: [
      "toolcrib secret set notes-token < token.txt",
      "cd .toolcrib/secrets/.store; for n in $(seq 1000); do cp notes-token.sealed run-$n.sealed; done",
    ],
    run: "toolcrib secret set last < token.txt",
    fix: "Remove secrets that nobody uses.",
  },
  SECRETS_KEYCHAIN_UNAVAILABLE: {
    cause:
      "A secret_key_ref names the keychain of the system, and its command is missing, locked or refuses.",
    did: "A program that embeds the gateway looks a secret up where secret-tool is not installed; on the command line the code is CONFIG_SECRET_NOT_AVAILABLE.",
    prints: 'Cannot read secret "github-token" from the keychain: the command secret-tool is not found',
    unrun: "machine",
    tested: "packages/secrets/test/sources.process.test.ts",
    fix: "Install the command that the message names, unlock the keychain, or use the secret store: toolcrib secret set NAME.",
  },
  SECRETS_KEY_INVALID: {
    cause: "The key of the secret store has another form than 32 bytes in base64 or hexadecimal.",
    files: { "token.txt": "abc\n" },
    run: "TOOLCRIB_SECRETS_KEY=password toolcrib secret set notes-token < token.txt",
    fix: "Set the key that the secrets were set with. For a new store: openssl rand -base64 32.",
  },
  SECRETS_KEY_MISSING: {
    cause: "There are secrets, and the key that decrypts them is gone.",
    files: { "token.txt": "abc\n" },
    before: ["toolcrib secret set notes-token < token.txt", "rm .toolcrib/secrets/.store/key"],
    run: "toolcrib secret test notes-token",
    fix: "Restore the key from a backup or set TOOLCRIB_SECRETS_KEY. Without the key nobody can read the secrets: remove them and set them again.",
  },
  SECRETS_KEY_WRONG: {
    cause: "A secret was encrypted with another key than the one in use.",
    files: { "token.txt": "abc\n" },
    before: ["toolcrib secret set notes-token < token.txt"],
    run: "TOOLCRIB_SECRETS_KEY=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= toolcrib secret test notes-token",
    fix: "Restore the former key, or set the secret again.",
  },
  SECRETS_NAME_INVALID: {
    cause:
      "The name of a secret is also a file name and a word in the configuration, so only some characters are possible.",
    files: { "value.txt": "s3cr3t-value\n" },
    run: "toolcrib secret set 'my token' < value.txt",
    fix: "Use at most 128 letters, digits, _ - and . characters, with no . at either end, such as my-token.",
  },
  SECRETS_NOT_FOUND: {
    cause:
      "No secret has this name in the place that is asked: the store, the keychain, a file or a variable.",
    run: "toolcrib secret rm absent",
    fix: "toolcrib secret list shows the names. Store the secret with toolcrib secret set NAME, or correct the name in secret_key_ref.",
  },
  SECRETS_UNREADABLE: {
    cause: "A file of a secret exists and cannot be read by the user who runs Toolcrib.",
    files: { "token.txt": "abc\n" },
    before: ["umask 077; mkdir -p .toolcrib/secrets/notes-token"],
    run: "toolcrib secret test notes-token",
    fix: "Let the user who runs Toolcrib own the file (mode 600).",
  },
  SECRETS_UNUSABLE: {
    cause:
      "The place of a secret contains something that is no secret: nothing, more than 65,536 bytes, or bytes that are no text.",
    files: { "empty.txt": "\n" },
    run: "toolcrib secret set github-token < empty.txt",
    fix: "Name a file, variable or entry that contains only the secret.",
  },
  SECRETS_UNWRITABLE: {
    cause:
      "The secret store could not be changed: no space, no permission, a read-only file system; or the disk did not confirm the change.",
    files: { "token.txt": "abc\n" },
    before: ["umask 077; mkdir .toolcrib; echo no > .toolcrib/secrets"],
    run: "toolcrib secret set last < token.txt",
    fix: "Free space, or let the user own the folder; then repeat the command.",
  },
  SECRETS_VALUE_INVALID: {
    cause: "A secret is text of 1 to 65,536 bytes without NUL. What was given is empty or something else.",
    files: library(
      'const secrets = await openSecretStore({ home: ".toolcrib" });',
      'await secrets.set("token", "");',
    ),
    run: "node program.mjs",
    fix: "Give the secret itself: from a prompt, from standard input, with --from-env VARIABLE or --from-file FILE.",
  },
};
