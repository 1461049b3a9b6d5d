/** Explanations of the codes of the package secrets. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  SECRETS_BUSY: {
    cause: "Another process holds the lock of the secret store for too long.",
    did: "toolcrib secret set waits for a prompt in another terminal that has the lock.",
    prints:
      "Cannot change the secret store: another process has locked it for 10000 ms\ntry again, or find the process that has the file write.lock open",
    unrun: "moment",
    fix: "Try again. If it persists, find the toolcrib process that hangs (fuser ~/.toolcrib/secrets/.store/write.lock) and end it.",
  },
  SECRETS_DAMAGED: {
    cause:
      "A file of the secret store was changed, replaced or cut off outside Toolcrib, so that it cannot be trusted or decrypted.",
    did: "An editor added a line to a file in ~/.toolcrib/secrets.",
    prints:
      'Cannot use "/home/ada/.toolcrib/secrets/github-token": it is longer than the format allows\nrestore it from a backup, or set the secret again',
    unrun: "damage",
    fix: "Restore the file from a backup, or set the secret again: toolcrib secret rm NAME, then toolcrib secret set NAME.",
  },
  SECRETS_EXISTS: {
    cause:
      "A secret with this name, or with one that differs in case only, exists. On some file systems both would be the same file.",
    did: "github-token is stored, and GitHub-Token is to be set.",
    prints:
      'Cannot use this name: secret "github-token" exists\nchoose another name, or remove that secret first',
    unrun: "running",
    fix: "Use the existing name, choose another, or remove the old one: toolcrib secret rm github-token.",
  },
  SECRETS_EXPOSED: {
    cause:
      "A secret file, the key of the store or their folder can be read or changed by other users of the machine. It is not used, so that the problem is seen.",
    did: "The home was restored from a backup without its modes.",
    prints:
      'Cannot use "/home/ada/.toolcrib/secrets": its mode 755 gives other users of this machine access\nrun chmod 700 /home/ada/.toolcrib/secrets, and replace the secrets if anyone may have read them',
    unrun: "damage",
    fix: "Run the chmod of the hint, or toolcrib doctor --fix. If others may have read the secrets, replace them at their services.",
  },
  SECRETS_FULL: {
    cause: "The store has its maximum number of secrets.",
    did: "A script stores a secret for each run.",
    prints:
      "Cannot store another secret: the store has 1000 secrets\nremove some: toolcrib secret list, toolcrib secret rm NAME",
    unrun: "load",
    fix: "Remove secrets that nobody uses.",
  },
  SECRETS_KEYCHAIN_UNAVAILABLE: {
    cause:
      "A secret_key_ref names the keychain of the system, and its command is missing, locked or refuses.",
    did: "On a server without a desktop, a secret is referenced with keychain:.",
    prints: 'Cannot read secret "github-token" from the keychain: the command secret-tool is not found',
    unrun: "machine",
    fix: "Install the command that the message names, unlock the keychain, or use the secret store: toolcrib secret set NAME.",
  },
  SECRETS_KEY_INVALID: {
    cause: "The key of the secret store has another form than 32 bytes in base64 or hexadecimal.",
    did: "TOOLCRIB_SECRETS_KEY is set to a password.",
    prints:
      "Cannot use the key of the secret store in TOOLCRIB_SECRETS_KEY: it is not 32 bytes in base64 or hexadecimal\nrestore the key that the secrets were set with; openssl rand -base64 32 makes one for a new store",
    unrun: "setup",
    fix: "Set the key that the secrets were set with. For a new store: openssl rand -base64 32.",
  },
  SECRETS_KEY_MISSING: {
    cause: "There are secrets, and the key that decrypts them is gone.",
    did: "The home was copied without the folder .store.",
    prints:
      'Cannot decrypt the secret store: its key "/home/ada/.toolcrib/secrets/.store/key" is missing\nrestore that file, or set TOOLCRIB_SECRETS_KEY; without the key, remove the secrets and set them again',
    unrun: "damage",
    fix: "Restore the key from a backup or set TOOLCRIB_SECRETS_KEY. Without the key nobody can read the secrets: remove them and set them again.",
  },
  SECRETS_KEY_WRONG: {
    cause: "A secret was encrypted with another key than the one in use.",
    did: "TOOLCRIB_SECRETS_KEY was replaced, and a secret from before is read.",
    prints:
      'Cannot decrypt secret "github-token": it was encrypted with a different key\nrestore the key that it was set with (secrets/.store/key, TOOLCRIB_SECRETS_KEY), or remove the secret and set it again',
    unrun: "damage",
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
    did: "A secret file of secret_key_ref: { file: … } belongs to root.",
    prints: 'Cannot read the secret file "/etc/toolcrib/token": permission denied',
    unrun: "damage",
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
    did: "The disk is full, and toolcrib secret set is run.",
    prints: 'Cannot change the secret store "/home/ada/.toolcrib/secrets": ENOSPC',
    unrun: "machine",
    fix: "Free space, or let the user own the folder; then repeat the command.",
  },
  SECRETS_VALUE_INVALID: {
    cause: "A secret is text of 1 to 65,536 bytes without NUL. What was given is empty or something else.",
    did: "An embedding program stores an empty secret.",
    prints: "Cannot store this secret: it is empty\na secret is text of 1 to 65,536 bytes",
    unrun: "library",
    fix: "Give the secret itself: from a prompt, from standard input, with --from-env VARIABLE or --from-file FILE.",
  },
};
