/** The advice about files that servers of the catalog write names the variable that their manifests require. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { adviceOn } from "@toolcrib/sandbox";

type Facts = Parameters<typeof adviceOn>[1];

/** Returns the advice where a package of the arguments cannot write beside its program. */
function adviceFor(args: readonly string[], path = "/usr/lib/server/kept.jsonl"): string | undefined {
  const effective = { networkEgress: "deny", filesystemWrite: "deny", egressAllow: [] };
  return adviceOn(`EROFS: read-only file system, open '${path}'`, {
    server: { id: "one", containment: { effective } } as unknown as Facts["server"],
    args,
    lineFor: ({ writePath }) => `write_paths: ["${writePath}"]`,
    isContained: () => true,
    namedPaths: [],
    hiddenPaths: [],
    userHome: "/home/ada",
  });
}

test("the advice names the variable of each package of the catalog that writes a file", () => {
  const folder = join(import.meta.dirname, "../../../catalog/manifests");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".yaml"),
  );
  const required = names.flatMap((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    const [, variable] = /\{variable: (\w+), value: written_file\b/.exec(text) ?? [];
    const [, source] = /^ {2}repo: \w+:(\S+)$/m.exec(text) ?? [];
    return variable === undefined ? [] : [{ variable, source: source ?? name }];
  });
  assert.ok(required.length > 0);
  for (const { variable, source } of required) {
    const line = `env: { ${variable}: /path/to/folder/kept.jsonl }`;
    for (const spec of [source, `${source}@1.2.3`, `${source}==1.2.3`])
      assert.ok((adviceFor(["-y", spec]) ?? "").endsWith(line), spec);
  }
});

test("the file is the one that a server renames its temporary one to", () => {
  for (const path of [
    "/usr/lib/server/kept.jsonl.3b4dc7140a36b9fff1d022a00fe6c50a.tmp",
    "/usr/lib/server/kept.jsonl.tmp",
  ]) {
    const advice = adviceFor(["@modelcontextprotocol/server-memory"], path);
    assert.match(advice ?? "", /MEMORY_FILE_PATH: \/path\/to\/folder\/kept\.jsonl \}$/, path);
  }
});

test("what a server prints is no part of the line that is to be written", () => {
  const advice = adviceFor(["@modelcontextprotocol/server-memory"], "/usr/x }, trust_state= certified #");
  assert.match(advice ?? "", /env: \{ MEMORY_FILE_PATH: \/path\/to\/folder\/FILE \}$/);
});

test("without a known variable, the advice names the place and the setting", () => {
  for (const args of [["-y", "@acme/notes@1.0.0"], ["constructor"], []]) {
    const advice = adviceFor(args) ?? "";
    assert.match(
      advice,
      /write_paths: \["\/path\/to\/folder"\], and in args or env, as its documentation says/,
    );
  }
});
