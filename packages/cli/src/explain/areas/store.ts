/** Explanations of the codes of the package store. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library, serverFile } from "../samples.ts";

export const explanations: Explanations = {
  AUDIT_ANCHOR_UNREADABLE: {
    cause:
      "A file of anchors (signed ends of the audit trail that are kept elsewhere) cannot be read, has no anchor, or too many lines.",
    files: { ...serverFile("notes"), "anchors.jsonl": "" },
    before: ["toolcrib list"],
    run: "toolcrib audit verify --anchor anchors.jsonl",
    fix: "Name the file that audit.anchor.file writes, or its last lines: tail -n 10000 FILE > part.",
  },
  AUDIT_BUDGET_EXCEEDED: {
    cause:
      "audit.client_max_bytes_per_day limits the records that one client may cause, so that it cannot fill the disk with them. Calls that cannot be recorded are refused.",
    did: "An agent in a loop makes millions of calls.",
    prints:
      'The calls of "agent" have used the 1073741824 bytes of audit records that one client may cause in 24 hours\nwait until earlier calls are 24 hours old, or raise audit.client_max_bytes_per_day',
    unrun: "load",
    tested: "packages/store/test/record-budget.test.ts",
    fix: "Find out why the client calls so much (toolcrib audit list --client NAME). Raise audit.client_max_bytes_per_day if it is intended.",
  },
  AUDIT_DAMAGED: {
    cause:
      "At its start, the gateway compares the audit trail with its last signed end. Records are missing or were changed. The finding is on record, and the trail continues.",
    files: serverFile("notes"),
    before: ["toolcrib list", "sed -i '$d' .toolcrib/audit/001-00000001.jsonl"],
    run: "toolcrib list --log-level warn 2>&1 | grep AUDIT",
    repaired: { before: ["toolcrib audit verify --accept 'removed by hand'"] },
    fix: "toolcrib audit verify shows what is missing or changed. Find out who did it. If the reason is known, such as a restored backup, accept it: toolcrib audit verify --accept.",
  },
  AUDIT_INDEX_FAILED: {
    cause:
      "The index makes queries of the trail fast. It cannot be read or updated; the trail itself is not affected.",
    files: serverFile("notes", ["mutability_class: read_only"]),
    did: "The index is damaged, and a folder is where the damaged file is kept.",
    before: [
      "toolcrib call notes:search --arg query=milk",
      "printf 'no database' > .toolcrib/toolcrib.db; mkdir .toolcrib/toolcrib.db.damaged",
    ],
    run: "toolcrib audit list",
    repaired: { before: ["rmdir .toolcrib/toolcrib.db.damaged"] },
    fix: "Let the user own the home, or remove the index with toolcrib doctor --fix: it is rebuilt from the segments.",
  },
  AUDIT_INDEX_REBUILT: {
    cause:
      "The index of the trail was damaged. It is rebuilt from the segments, and the damaged file is kept beside it.",
    files: {
      ...serverFile("notes", ["mutability_class: read_only"]),
      ...library(
        "const onProblem = ({ code, message }) => console.log(code, message);",
        'const reader = await openAuditReader({ home: ".toolcrib" }, { onProblem });',
        "await reader.list();",
      ),
    },
    did: "The file of the index was overwritten.",
    before: ["toolcrib call notes:search --arg query=milk", "printf 'no database' > .toolcrib/toolcrib.db"],
    run: "node program.mjs",
    fix: "Nothing has to be done. Remove the damaged file when you do not want to examine it. If it repeats, check the disk.",
  },
  AUDIT_QUERY_INVALID: {
    cause:
      "A query of the trail has a value that cannot be searched for, or more of them than a query may have.",
    files: library(
      'const reader = await openAuditReader({ home: ".toolcrib" });',
      "await reader.list({ limit: 5000 });",
    ),
    did: "An embedding program asks for more records than a page can have.",
    run: "node program.mjs",
    fix: "Correct the option that the message names; toolcrib help audit list shows the forms.",
  },
  AUDIT_RECORDS_DROPPED: {
    cause:
      "The trail could not be written for so long that records in memory had to be discarded. Their number is on record. Calls were refused meanwhile; the records are of other events.",
    did: "The disk was full for an hour.",
    prints: "Discarded 240 records while the audit trail could not be written",
    unrun: "machine",
    tested: "packages/store/test/audit-trail.test.ts",
    fix: "Free space, and see that the disk is large enough: toolcrib doctor shows the size of the trail and the free space.",
  },
  AUDIT_RECORD_TOO_LARGE: {
    cause: "A record exceeds its limit even with shortened texts.",
    did: "An embedding program records an event with very many fields.",
    prints: 'Cannot write a "call.started" record of 90000 characters; at most 65536 are allowed',
    unrun: "fault",
    tested: "packages/store/test/audit-trail.test.ts",
    fix: "Report it: records of Toolcrib itself are shortened to fit. A program should record less.",
  },
  AUDIT_RETENTION_FAILED: {
    cause: "Segments that are older or larger than audit.retention allows could not be deleted.",
    files: {
      ...library(
        "const onProblem = ({ code, message }) => console.log(code, message);",
        'const options = { home: ".toolcrib", audit: { segmentMaxBytes: 1, retainMaxBytes: 1 } };',
        "const store = await openStore(options, { now: Date.now, randomBytes, onProblem });",
        'for (const server of ["notes", "crm"]) {',
        '  store.audit.record("server.stopped", { server, reason: "stopped" });',
        "  await store.audit.flush();",
        "}",
        "await store[Symbol.asyncDispose]();",
      ),
      ".toolcrib/audit-retention.json/notes.txt": "a folder is here\n",
    },
    did: "A folder is where the file with the ages of segments has to be.",
    run: "node program.mjs",
    fix: "Make the folder writable for the user who runs the gateway. The next run deletes what is too old.",
  },
  AUDIT_SEGMENT_DAMAGED: {
    cause:
      "A segment of the trail ends in an unfinished line, as after a power failure, or was removed while it was in use. Writing continues after it.",
    files: serverFile("notes"),
    before: ["toolcrib list", "printf '{\"specversion\":' >> .toolcrib/audit/001-00000001.jsonl"],
    run: "toolcrib list --log-level warn 2>&1 | grep AUDIT",
    fix: "Nothing has to be done after a crash. If nobody crashed, somebody changed the file: toolcrib audit verify.",
  },
  AUDIT_UNREADABLE: {
    cause:
      "A segment of the trail cannot be read: the user has no permission, or it is no regular file. With audit verify --export: the export, the proof or the key cannot be read, or the proof or the key has another format.",
    files: serverFile("notes"),
    before: ["toolcrib list", "mkdir .toolcrib/audit/002-00000001.jsonl"],
    run: "toolcrib audit find-value --json < toolcrib.yaml",
    fix: "Let the user read the folder audit of the home, and move out what does not belong there.",
  },
  AUDIT_UNWRITABLE: {
    cause: "An audit record could not be written, so the call that it belongs to is not made.",
    files: serverFile("notes"),
    did: "The process may write no file of more than 100 bytes, as if the disk was full.",
    run: "(trap '' XFSZ; prlimit --fsize=100 toolcrib call notes:search --arg query=milk) 2>&1 | cat",
    fix: "Free space; calls go on by themselves. toolcrib doctor shows free space and size of the trail; audit.retention limits it.",
  },
  STORE_BUSY: {
    cause: "Another process holds the lock of a file of the home for too long.",
    files: library(
      'const store = await openApprovalStore(".toolcrib", { randomBytes });',
      "const reach = { tools: [], isUnknown: false };",
      'const approval = { name: "report", reach, approvedBy: { subject: "ada" }, approvedAt: 0 };',
      "const first = await store.put(approval, undefined);",
      'const lock = tryLock(".toolcrib/locks", "approvals", "exclusive");',
      "await store.put(approval, first.version).finally(() => lock[Symbol.dispose]());",
    ),
    did: "Another process holds the lock, which here is the program itself.",
    run: "node program.mjs",
    fix: "Try again. If it persists, find the process that hangs (ps, fuser) and end it.",
  },
  STORE_CLOSED: {
    cause: "A store of the home was used after it was closed, at the end of a gateway.",
    files: library(
      'const store = await openApprovalStore(".toolcrib", {});',
      "await store[Symbol.asyncDispose]();",
      'await store.get("report");',
    ),
    did: "An embedding program uses a store that it has closed.",
    run: "node program.mjs",
    fix: "Use the store before it is closed.",
  },
  STORE_CONFLICT: {
    cause: "Two processes changed the same record; this one had read the older version.",
    files: library(
      'const store = await openApprovalStore(".toolcrib", { randomBytes });',
      "const reach = { tools: [], isUnknown: false };",
      'const approval = { name: "report", reach, approvedBy: { subject: "ada" }, approvedAt: 0 };',
      "await store.put(approval, undefined);",
      "await store.put(approval, undefined);",
    ),
    did: "An embedding program stores an approval without the version that it read.",
    run: "node program.mjs",
    fix: "Repeat the command: it reads the current version.",
  },
  STORE_FULL: {
    cause: "The store has the maximum number of records of this kind.",
    did: "A script makes thousands of approvals of saved tools.",
    prints:
      'Cannot write "/home/ada/.toolcrib/approvals/saved-tools.json": at most 10000 approvals are allowed\nremove entries that are not needed',
    unrun: "load",
    tested: "packages/store/test/definition-pins.test.ts",
    fix: "Remove what nobody needs: saved tools, pauses, servers that are not used.",
  },
  STORE_HOME_UNUSABLE: {
    cause:
      "The home cannot be created, read or locked: it is a file, belongs to another user, or its file system has no locks.",
    did: "The home is on a disk that is read-only.",
    prints:
      'Cannot create the home directory "/mnt/ro/toolcrib": EROFS\nfree disk space, give the user who runs toolcrib write access to it, or use another with --home',
    unrun: "machine",
    tested: "packages/store/test/audit-trail.test.ts",
    fix: "Choose a folder that this user can write to, with --home or TOOLCRIB_HOME, or repair the one that the message names: chown, chmod 700, free space.",
  },
  STORE_RECORD_TOO_LARGE: {
    cause: "A record is larger than is kept, or has a value that is not allowed in it.",
    files: library(
      'const store = await openApprovalStore(".toolcrib", { randomBytes });',
      'const reach = { tools: Array(100_000).fill("notes:search"), isUnknown: false };',
      'const approval = { name: "report", reach, approvedBy: { subject: "ada" }, approvedAt: 0 };',
      "await store.put(approval, undefined);",
    ),
    did: "An embedding program stores an approval of a hundred thousand tools.",
    run: "node program.mjs",
    fix: "Write less: the message names the record and the limit.",
  },
  STORE_UNREADABLE: {
    cause:
      "A file of the home cannot be read or is damaged, so what it says (approvals, pins, keys) does not count.",
    files: serverFile("notes"),
    before: ["umask 077; mkdir .toolcrib; echo no > .toolcrib/audit-fingerprints.key"],
    run: "toolcrib list",
    repaired: { before: ["rm .toolcrib/audit-fingerprints.key"] },
    fix: "Restore the file from a backup, or remove it as the hint says. toolcrib doctor names damaged files.",
  },
  STORE_UNWRITABLE: {
    cause: "A file of the home could not be written: no space, no permission.",
    files: serverFile("notes"),
    before: ["umask 077; mkdir -p .toolcrib; ln -s /nowhere/guards .toolcrib/guards"],
    run: "toolcrib pause all",
    repaired: { before: ["rm .toolcrib/guards"] },
    fix: "Create the folder, free space, or let the user own it.",
  },
  STORE_WRITERS_EXHAUSTED: {
    cause: "Each process that writes to the trail has a number, and all numbers are in use.",
    did: "Hundreds of toolcrib processes use one home at the same time.",
    prints: '64 processes write to "/home/ada/.toolcrib" already; that is the maximum',
    unrun: "load",
    tested: "packages/store/test/several-writers.process.test.ts",
    fix: "End toolcrib processes that are not needed, or use several homes.",
  },
};
