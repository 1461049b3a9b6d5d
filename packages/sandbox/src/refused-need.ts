/**
 * Finds in what a contained program printed what its sandbox refused it: a host, a
 * file to write, a file to read. Texts of programs are all that there is: the kernel
 * reports no refusal to anybody else. Pure, and only a guess: its caller shows it as
 * advice to the operator, and never acts on it.
 */

/** An access that a sandbox refused to a program. */
export type RefusedNeed =
  /** `host` is undefined where the text names none. */
  | { readonly kind: "network"; readonly host: string | undefined }
  /** `path` is what it wanted to write; `isFolder` whether it wanted to create it as a folder. */
  | { readonly kind: "write"; readonly path: string | undefined; readonly isFolder: boolean }
  | { readonly kind: "read"; readonly path: string };

/** Characters of a text that are read, half of them from its start and half from its end. */
const textMaxLength = 16_384;

/** Names of hosts that programs print where they cannot be found (Node, Go, Python, curl, Rust). */
const lookupPatterns = [
  /getaddrinfo (?:ENOTFOUND|EAI_AGAIN|ENODATA) ([\w.-]+)/,
  /\blookup ([\w.-]+)(?: on [\w.:[\]]+)?: /,
  /(?:resolve|resolve host|resolve host:|resolve name|resolving|resolution for) ['"`(]*([\w-]+(?:\.[\w-]+)+)/i,
  /host=['"]([\w.-]+)['"]/,
  /\b(?:ECONNREFUSED|ENETUNREACH|EHOSTUNREACH) ([\d.]+)/,
];

/** Failures of the network in a sandbox without one, and of the egress proxy that does not open a way to a host (curl, Python). */
const networkPattern =
  /\bENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|network is unreachable|name resolution|name or service not known|no such host|nodename nor servname|could(?: not|n't) resolve|failed to resolve|dns error|fetch failed|all connection attempts failed|connection (?:issue|error)|connecterror|connect(?:ion)? (?:refused|timed out)|ECONNREFUSED|failed to (?:connect|fetch)|tunnel(?: connection)? failed\b.{0,20}\b403|403 from proxy after CONNECT/i;
/** A connection to the machine itself has nothing to do with a host. */
const loopbackPattern = /^(?:localhost|127\.|0\.0\.0\.0$|::1$|\[)/i;
const urlHostPattern = /\bhttps?:\/\/([\w.-]+)/i;

const writePattern =
  /EROFS|read-only file ?system|readonly database|read-only mode|unable to open database|cannot open file|EACCES|permission denied|lock at .* could not be obtained/i;
/** A path after the operation (Node), before the reason (Go), or in quotes (Python). */
const pathPatterns = [
  /(mkdir|open|rename|unlink|copyfile|write)(?: temp file)? ['"]?(\/[^'"\n:]+?)['"]?(?=['":\n,]|$| ->)/i,
  /(?:file|database|folder|directory|path)() ['"](\/[^'"\n]+)['"]/i,
  /()['"](\/[^'"\n]+)['"]/,
];
const readPattern = /ENOENT|no such file or directory/i;
/** Names of files that programs create beside one that they write: nobody reads what was not there before. */
const temporaryName = /\.(?:tmp|temp|lock|lck|part|swp)$|\.te?mp[.-][\w.-]{1,80}$|-journal$/i;

/** Finds what a program could not do; undefined where its text says nothing of this kind. */
export function findRefusedNeed(text: string): RefusedNeed | undefined {
  const half = textMaxLength / 2;
  const read = text.length <= textMaxLength ? text : `${text.slice(0, half)}\n${text.slice(-half)}`;
  // The last line that fits: the lines of a stack before it name files that have nothing to do with it.
  const lines = read.split("\n").toReversed();
  const written = lines.find((line) => writePattern.test(line));
  if (written !== undefined) return { kind: "write", ...pathIn(written) };
  const failed = lines.find((line) => networkPattern.test(line));
  if (failed !== undefined) {
    const host = hostIn(failed) ?? hostIn(read);
    if (host === undefined || !loopbackPattern.test(host)) return { kind: "network", host };
  }
  const missing = lines.find((line) => readPattern.test(line));
  if (missing === undefined) return undefined;
  const { path, isFolder } = pathIn(missing);
  if (path === undefined) return undefined;
  // Node reports a folder that it may not create, with those above it, as one that does not exist.
  if (isFolder) return { kind: "write", path, isFolder };
  return temporaryName.test(path) ? { kind: "write", path, isFolder: false } : { kind: "read", path };
}

function hostIn(text: string): string | undefined {
  const found = [...lookupPatterns, urlHostPattern]
    .map((pattern) => pattern.exec(text)?.[1])
    .find((name) => name !== undefined);
  return found?.toLowerCase().replace(/\.+$/, "");
}

function pathIn(line: string): { readonly path: string | undefined; readonly isFolder: boolean } {
  for (const pattern of pathPatterns) {
    const found = pattern.exec(line);
    const path = found?.[2]?.trim();
    if (path !== undefined && path.length <= 4_096) {
      return { path, isFolder: /mkdir/i.test(found?.[1] ?? "") };
    }
  }
  return { path: undefined, isFolder: false };
}
