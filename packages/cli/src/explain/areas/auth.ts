/** Explanations of the codes of the package auth. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  CONTROL_LISTEN_FAILED: {
    cause:
      "The gateway opens a socket file for the operator's commands in a private temporary folder. The system refused it: the folder is on a file system without sockets, is not writable, or its path is longer than a socket may have (about 100 bytes).",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    did: "The path of the home is too long for a socket, and the folder for temporary files cannot have one.",
    run: `TMPDIR=/proc toolcrib serve --listen 127.0.0.1:0 --home ${"home-of-toolcrib-".repeat(6)}`,
    fix: "Start the gateway with TMPDIR=/tmp, or another local folder with a short path that this user can write to.",
  },
  TOKEN_FILE_EXPOSED: {
    cause:
      "Anyone who reads a token can use the gateway. The file, or the folder tokens of the home, is open to other users of the machine, so the token is not used.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    before: ["toolcrib token create ci", "chmod 644 .toolcrib/tokens/ci"],
    run: "toolcrib serve --listen 127.0.0.1:0",
    fix: "Run the chmod of the hint, or toolcrib doctor --fix, which closes the whole home. If others may have read the token, remove the file, create another token with toolcrib token create NAME, and connect its clients again.",
  },
  TOKEN_FILE_UNREADABLE: {
    cause:
      "The file of a token cannot be read or written by the user who runs Toolcrib: another owner, missing rights, a full disk or a read-only file system.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    before: ["umask 077; mkdir -p .toolcrib/tokens/ci"],
    run: "toolcrib serve --listen 127.0.0.1:0",
    fix: "Give the home back to its user: sudo chown -R ada ~/.toolcrib. If the disk is full or read-only, free space, or choose another home with --home.",
  },
  TOKEN_INVALID: {
    cause:
      "A token has 16 to 512 characters that an HTTP header can carry. The file or the variable contains something else: it is empty, was shortened, or has spaces or line breaks within.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "TOOLCRIB_TOKEN=secret toolcrib serve --listen 127.0.0.1:0",
    fix: "Put a long random text there, such as the output of openssl rand -hex 32, or remove the file and let toolcrib token create NAME write a new one.",
  },
  TOKEN_TOO_MANY: {
    cause:
      "The folder tokens of the home has more files than a gateway reads. Usually a script creates a token for each run and removes none.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    before: [
      "umask 077; mkdir -p .toolcrib/tokens; for n in $(seq 1001); do echo tcb_000000000000000000 > .toolcrib/tokens/t$n; done",
    ],
    run: "toolcrib serve --listen 127.0.0.1:0",
    fix: "Remove files of tokens that nobody uses from the folder tokens of the home. Give each client one token and keep it.",
  },
};
