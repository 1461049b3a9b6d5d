import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { after, test } from "node:test";
import { apiPage, checkApiDocs } from "../docs/api-page.ts";
import { errorPages, meaningsModule } from "../docs/errors-page.ts";
import { checkPages, listStalePages } from "../docs/generated-pages.ts";
import { limitsPage } from "../docs/limits-page.ts";
import { checkLinks } from "../docs/link-rules.ts";
import { readErrorCodes } from "../error-codes.ts";
import { openWorkspace, startCompiler, type Workspace } from "../workspace.ts";
import { type Files, makeTree, placesOf } from "./temporary-tree.ts";

const compiler = startCompiler();
after(() => compiler.close());

/** Creates a workspace from `files`, and runs `use` with it. */
async function withTree(files: Files, use: (workspace: Workspace) => void | Promise<void>): Promise<void> {
  await using tree = await makeTree(files);
  using workspace = openWorkspace(tree.path, compiler);
  await use(workspace);
}

function packageIn(workspace: Workspace, folder: string) {
  const found = workspace.packages.find((one) => one.folder === folder);
  assert.ok(found !== undefined);
  return found;
}

const source = `/** A header. */

import type { Other } from "./other.ts";

/** Limits of \`open\`. */
export interface OpenOptions {
  /** Longest name. @default 1,000 */
  readonly maxName?: number;
  /** A title, which has no number. @default none */
  readonly title?: string;
  readonly nested: {
    // Not part of the interface.
    readonly url: "http://localhost"; /** nor this */
  };
}

/**
 * Open it,
 * with care.
 *
 * More about it.
 *
 * @param name what
 */
export function open(name: string, options: OpenOptions = { nested: { url: "http://localhost" } }) {
  return { name, options };
}

/** Several forms. */
export async function read(name: string): Promise<string>;
export async function read(name: number): Promise<number>;
export async function read(name: string | number): Promise<string | number> {
  return name;
}

/** A thing. */
export class Thing<T> extends Error implements Other {
  /** Its value. */
  readonly value: T;
  #secret = 1;
  private hidden = 2;
  protected readonly kind = "thing";
  constructor(value: T) {
    super(String(value));
    this.value = value;
  }
  get size(): number {
    return this.#secret + this.hidden;
  }
  take(other: T) {
    return [this.value, other];
  }
}

/** A number. */
export const limit = 10;
export type Name = string | undefined;
`;

const tree: Files = {
  "packages/mcp/src/index.ts":
    '// For users.\nexport { limit, type OpenOptions, open, read, Thing } from "./a.ts";\n// For other packages here.\nexport type { Name } from "./a.ts";\n',
  "packages/mcp/src/a.ts": source,
  "packages/mcp/src/other.ts": "export interface Other { take(other: unknown): unknown }\n",
  "packages/mcp/src/codes.ts":
    'export const mcpCodes = { MCP_TWO: "One | two.", MCP_BROKEN: "It is broken." } as const;\n',
};

test("apiPage() shows signatures without bodies, comments and private members, by section", () =>
  withTree(tree, (workspace) => {
    assert.equal(
      apiPage(packageIn(workspace, "mcp"), workspace.checker),
      `# @toolcrib/mcp

<!-- Written by \`npm run docs\` from packages/mcp/src/index.ts. -->

## For users

### limit (constant)

A number.

\`\`\`ts
const limit: 10;
\`\`\`

### OpenOptions (interface)

Limits of \`open\`.

\`\`\`ts
interface OpenOptions {
  readonly maxName?: number;
  readonly title?: string;
  readonly nested: {
    readonly url: "http://localhost";
  };
}
\`\`\`

### open (function)

Open it, with care.

\`\`\`ts
function open(name: string, options: OpenOptions = { nested: { url: "http://localhost" } }): { name: string; options: OpenOptions; };
\`\`\`

### read (function)

Several forms.

\`\`\`ts
function read(name: string): Promise<string>;
function read(name: number): Promise<number>;
\`\`\`

### Thing (class)

A thing.

\`\`\`ts
class Thing<T> extends Error implements Other {
  readonly value: T;
  protected readonly kind: "thing";
  constructor(value: T);
  get size(): number;
  take(other: T): T[];
}
\`\`\`

## For other packages here

### Name (type)

\`\`\`ts
type Name = string | undefined;
\`\`\`
`,
    );
  }));

test("checkApiDocs() finds exports without a doc comment", () =>
  withTree(tree, (workspace) => {
    const findings = checkApiDocs(packageIn(workspace, "mcp"), workspace.checker);
    assert.deepEqual(placesOf(findings), ["packages/mcp/src/index.ts:4 DOC_MISSING"]);
  }));

test("limitsPage() lists the options with a number as their default", () =>
  withTree(tree, (workspace) => {
    const [, table] = limitsPage(workspace.packages).split("## mcp");
    assert.equal(
      table,
      "\n\n| Option | Default | Meaning |\n|---|---|---|\n| `OpenOptions.maxName` | 1,000 | Longest name. |\n",
    );
  }));

test("limitsPage() lists constants with the tag of limits, and refuses one that is no number", async () => {
  const withConstants = (constants: string) => ({
    ...tree,
    "packages/mcp/src/index.ts": `/** A header. */\n\n${constants}`,
  });
  const constants = `/**
 * Bytes of a
 * frame. @limit client and server
 */
export const frameMaxBytes = 16 * 1_024;
/** Longest name. @limit program */
const nameMaxLength = 2 ** 12;
/** Not for others. */
export const names = [frameMaxBytes, nameMaxLength];
`;
  await withTree(withConstants(constants), (workspace) => {
    const page = limitsPage(workspace.packages);
    assert.deepEqual(page.slice(page.indexOf("| Fixed")).trim().split("\n"), [
      "| Fixed limit | Value | Of a | Meaning |",
      "|---|---|---|---|",
      "| `frameMaxBytes` of `index.ts` | 16,384 | client and server | Bytes of a frame. |",
      "| `nameMaxLength` of `index.ts` | 4,096 | program | Longest name. |",
    ]);
  });
  for (const value of ["other", "1 + 1", "1.5", "2 * other"])
    await withTree(
      withConstants(`/** Of it. @limit client */\nexport const limit = ${value};\n`),
      (workspace) =>
        assert.throws(
          () => limitsPage(workspace.packages),
          /mcp\/src\/index\.ts: limit has @limit and is no number/,
        ),
    );
});

test("errorPages() lists codes by area, and explains each on the page of its area", () => {
  const example = {
    run: "toolcrib list",
    lines: ["$ toolcrib list"],
    files: { "a.yaml": "x: 1\n" },
    output: "error MCP_TWO: x",
  };
  const text = { area: "mcp", cause: "It <is>.", fix: "Do it." };
  const printed = { did: "A server fails.", lines: [], output: "x", notRun: "needs a server" };
  const pages = new Map(
    errorPages([
      { ...text, code: "MCP_TWO", meaning: "One | two.", example },
      { ...text, area: "events", code: "call.denied", meaning: "It <is>.", example: printed },
    ]),
  );
  const index = pages.get("docs/reference/errors.md") ?? "";
  assert.match(index, /examples of 1 of the 2 codes/);
  assert.match(index, /## mcp\n\n.*\n.*\n\| \[`MCP_TWO`\]\(errors\/mcp.md#mcp_two\) \| One \\\| two\. \|\n/);
  assert.match(index, /\(errors\/events.md#calldenied\)/);
  assert.match(
    pages.get("docs/reference/errors/mcp.md") ?? "",
    /## MCP_TWO\n\nOne \| two\.\n\n\*\*Cause\.\*\* It &lt;is>\.[\s\S]*`a.yaml`\n\n```text\nx: 1\n```\n\n```text\n\$ toolcrib list\nerror/,
  );
  assert.match(pages.get("docs/reference/errors/events.md") ?? "", /It is not run: it needs a server\./);
});

test("meaningsModule() has the meaning of each code", () =>
  withTree(tree, (workspace) => {
    const text = meaningsModule(readErrorCodes(workspace).codes);
    assert.match(text, /MCP_BROKEN: "It is broken\.",\n {2}MCP_TWO: "One \| two\.",/);
  }));

test("checkPages() finds pages that are missing, different, truncated or obsolete, with positions", async () => {
  await using directory = await makeTree({
    "docs/api/same.api.md": "one\ntwo\n",
    "docs/api/other.api.md": "one\ntwo\nthree\n",
    "docs/api/short.api.md": "one\n",
    "docs/api/gone.api.md": "one\n",
  });
  const pages = new Map([
    ["docs/api/same.api.md", "one\ntwo\n"],
    ["docs/api/other.api.md", "one\n2\nthree\n"],
    ["docs/api/short.api.md", "one\ntwo\n"],
    ["docs/api/missing.api.md", "one\n"],
  ]);
  assert.deepEqual(listStalePages(directory.path, pages), ["docs/api/gone.api.md"]);
  assert.deepEqual(placesOf(checkPages(directory.path, pages)), [
    "docs/api/gone.api.md:1 DOC_OUTDATED",
    "docs/api/missing.api.md:1 DOC_OUTDATED",
    "docs/api/other.api.md:2 DOC_OUTDATED",
    "docs/api/short.api.md:2 DOC_OUTDATED",
  ]);
  for (const [path, text] of pages) {
    await mkdir(dirname(directory.join(path)), { recursive: true });
    await writeFile(directory.join(path), text);
  }
  assert.deepEqual(placesOf(checkPages(directory.path, pages)), ["docs/api/gone.api.md:1 DOC_OUTDATED"]);
});

test("checkLinks() finds broken links and paths, and ignores code blocks and URLs", () =>
  withTree(
    {
      "README.md":
        "[a](docs/a.md) [b](docs/b.md#part)\n`packages/mcp/src/index.ts` `packages/mcp/src/gone.ts`\n[web](https://example.test/x) [here](#here)\n```\n[c](docs/c.md) `scripts/none.ts`\n```\n`packages/cli/dist/bin.js` [up](../outside.md)\n",
      "docs/a.md": "[back](../README.md) [d](/docs/d.md)\n[images](a%20b.md)\n",
      "docs/a b.md": "# A\n",
    },
    ({ root }) => {
      assert.deepEqual(placesOf(checkLinks(root)), [
        "README.md:1 DOC_LINK_BROKEN",
        "README.md:2 DOC_LINK_BROKEN",
        "README.md:7 DOC_LINK_BROKEN",
        "docs/a.md:1 DOC_LINK_BROKEN",
      ]);
    },
  ));
