/** The output of programs to which their sandbox refuses something, and the need that is read from it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { findRefusedNeed } from "@toolcrib/sandbox";

const network = (host?: string) => ({ kind: "network", host });
const write = (path?: string, isFolder = false) => ({ kind: "write", path, isFolder });

test("a refusal is found in what programs of many languages print", () => {
  const cases: readonly (readonly [string, unknown])[] = [
    // Node.
    ["Error: getaddrinfo ENOTFOUND api.example.com", network("api.example.com")],
    ["TypeError: fetch failed\n  [cause]: Error: getaddrinfo EAI_AGAIN svelte.dev", network("svelte.dev")],
    ["connect ENETUNREACH 198.51.100.7:443", network("198.51.100.7")],
    ["EROFS: read-only file system, open '/srv/data/b.txt'", write("/srv/data/b.txt")],
    ["EROFS: read-only file system, mkdir '/srv/new'", write("/srv/new", true)],
    ["EACCES: permission denied, open '/srv/data/my file'", write("/srv/data/my file")],
    [
      "ENOENT: no such file or directory, open '/srv/data/absent'",
      { kind: "read", path: "/srv/data/absent" },
    ],
    // Node, for a folder with those above it.
    ["ENOENT: no such file or directory, mkdir '/srv/files/new'", write("/srv/files/new", true)],
    // A file that is written under another name first, in a folder that the sandbox does not show.
    [
      "ENOENT: no such file or directory, open '/srv/data/memory.jsonl.6f889969c2d49582.tmp'",
      write("/srv/data/memory.jsonl.6f889969c2d49582.tmp"),
    ],
    [
      "FileNotFoundError: [Errno 2] No such file or directory: '/srv/data/notes.db-journal'",
      write("/srv/data/notes.db-journal"),
    ],
    // The egress proxy of a scoped network.
    ["OSError: Tunnel connection failed: 403 Forbidden", network()],
    ["curl: (56) CONNECT tunnel failed, response 403", network()],
    ["curl: (56) Received HTTP code 403 from proxy after CONNECT", network()],
    ["<urlopen error Tunnel connection failed: 403 Forbidden> https://Example.org/x", network("example.org")],
    // Python.
    [
      "HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded: Failed to resolve 'pypi.org' ([Errno -3] Temporary failure in name resolution)",
      network("pypi.org"),
    ],
    [
      "Failed to fetch robots.txt https://example.org/robots.txt due to a connection issue",
      network("example.org"),
    ],
    [
      "Traceback (most recent call last):\n  File \"/opt/venv/lib/server.py\", line 3, in main\nOSError: [Errno 30] Read-only file system: '/srv/db'",
      write("/srv/db"),
    ],
    ["sqlite3.OperationalError: unable to open database file", write()],
    ["Lock at '/srv/r/.git/refs/heads/x.lock' could not be obtained", write("/srv/r/.git/refs/heads/x.lock")],
    [
      "FileNotFoundError: [Errno 2] No such file or directory: '/srv/data/notes.txt'",
      { kind: "read", path: "/srv/data/notes.txt" },
    ],
    // Go, curl, Rust.
    ["dial tcp: lookup example.com on 127.0.0.1:53: no such host", network("example.com")],
    ["open /srv/data/out.json: read-only file system", write("/srv/data/out.json")],
    ["curl: (6) Could not resolve host: example.com", network("example.com")],
    ["dns error: failed to lookup address information for https://Example.com./x", network("example.com")],
  ];
  for (const [text, expected] of cases) assert.deepEqual(findRefusedNeed(text), expected, text);
});

test("nothing is found in other texts, and long ones end", () => {
  const others = [
    "",
    "The file was written",
    "Invalid arguments: expected a number",
    "connect ECONNREFUSED 127.0.0.1:5432",
    "getaddrinfo ENOTFOUND localhost",
    "no such file or directory",
  ];
  for (const text of others) assert.equal(findRefusedNeed(text), undefined, text);
  const long = `${"open '".repeat(200_000)}\nfetch failed`;
  assert.deepEqual(findRefusedNeed(long), network());
});
