import assert from "node:assert/strict";
import { test } from "node:test";
import {
  adoptedSource,
  lintCatalog,
  lintLiveTools,
  parseManifest,
  placeholderVariables,
  rewriteTools,
} from "@toolcrib/toolspec";

/** A manifest in YAML. @param lines of its end, after those that every manifest needs */
function manifestText(changes: { readonly [field: string]: string }, ...lines: readonly string[]): string {
  const {
    repo = "npm:@acme/server",
    tag = "1.2.3",
    entrypoint = "/app/server",
    builder = "node",
    folder,
  } = changes;
  return [
    ...[
      "schemaVersion: 1",
      "name: acme",
      "version: 0.1.0",
      "source:",
      `  repo: ${JSON.stringify(repo)}`,
      `  tag: ${JSON.stringify(tag)}`,
    ],
    ...(folder === undefined ? [] : [`  package: ${folder}`]),
    ...["image:", "  ref: x", `  digest: sha256:${"0".repeat(63)}1`, `  entrypoint: ${entrypoint}`],
    ...[`  builder: ${builder}`, `tier: ${changes["tier"] ?? "sealed"}`, ...lines, ""],
  ].join("\n");
}

function manifestOf(...args: Parameters<typeof manifestText>) {
  const { value, diagnostics } = parseManifest({ name: "acme.yaml", text: manifestText(...args) });
  return value ?? assert.fail(diagnostics.map(({ message }) => message).join("\n"));
}

test("adoptedSource() reads the package, the version, the program and its fixed arguments", () => {
  const check = (changes: { readonly [field: string]: string }, expected: string) => {
    const source = adoptedSource(manifestOf(changes));
    const shown =
      "kind" in source
        ? [source.kind, source.package, source.version, source.program, ...source.args].join(" ")
        : `${source.path}: ${source.message}`;
    assert.equal(shown, expected);
  };
  const go = { builder: "go-static" };
  check({}, "npm @acme/server 1.2.3 server");
  check(
    { tag: "v1.2.3", entrypoint: "/app/bin/serve stdio --quiet" },
    "npm @acme/server 1.2.3 serve stdio --quiet",
  );
  check({ builder: "python", repo: "pypi:acme-mcp", tag: "2026.1.2" }, "python acme-mcp 2026.1.2 server");
  check({ ...go, repo: "github.com/acme/x", tag: "v1.2.3" }, "go github.com/acme/x v1.2.3 server");
  check(
    { ...go, repo: "https://github.com/acme/x.git", tag: "sub/v1.2.3-rc.1", folder: "cmd/serve" },
    "go github.com/acme/x/cmd/serve v1.2.3-rc.1 server",
  );
  for (const [changes, path] of [
    [{ repo: "@acme/server" }, "source.repo"],
    [{ repo: "npm:../server" }, "source.repo"],
    [{ repo: "npm:a/b" }, "source.repo"],
    [{ repo: "npm:~a" }, "source.repo"],
    [{ ...go, repo: "github.com/acme/../x", tag: "v1.0.0" }, "source.repo"],
    [{ tag: "1.2.3beta" }, "source.tag"],
    [{ builder: "python", repo: "pypi:x", tag: "1.2.3 || 2" }, "source.tag"],
    [{ builder: "python", repo: "pypi:x", tag: "1.x" }, "source.tag"],
    [{ tag: "latest" }, "source.tag"],
    [{ tag: "^1.2.3" }, "source.tag"],
    [{ ...go, repo: "npm:x", tag: "v1.0.0" }, "source.repo"],
    [{ ...go, repo: "github.com/acme/x", tag: "main" }, "source.tag"],
    [{ builder: "python", repo: "pypi:a b" }, "source.repo"],
    [{ builder: "toolpack" }, "image.builder"],
    [{ entrypoint: "/app/-x" }, "image.entrypoint"],
  ] as const) {
    const source = adoptedSource(manifestOf(changes));
    assert.ok("path" in source, JSON.stringify(changes));
    assert.equal(source.path, path);
    assert.notEqual(source.hint, "");
    // Plain lint refuses what could not be fetched.
    const { diagnostics } = lintCatalog(
      [{ path: "acme.yaml", text: manifestText(changes), kind: "manifest" }],
      {
        subject: "manifests",
      },
    );
    const found = diagnostics.map(({ code, path: at }) => `${code} ${at}`);
    assert.deepEqual(found, changes.builder === "toolpack" ? [] : [`MANIFEST_SOURCE_UNUSABLE ${path}`]);
  }
});

test("adoptedSource() and lint compare the digest of a manifest with its lock", () => {
  const digest = `${"0".repeat(63)}1`;
  for (const [changes, lockDigest, expected] of [
    [{}, digest, undefined],
    [{}, undefined, /is the SHA-256 of a lock, and the manifest has none/],
    [{}, digest.replace("1", "2"), /but the lock of the manifest has sha256:0+2$/],
    [{ builder: "go-static", repo: "github.com/acme/x", tag: "v1.2.3" }, undefined, undefined],
  ] as const) {
    const source = adoptedSource(manifestOf(changes), { lockDigest });
    const { diagnostics } = lintCatalog(
      [{ path: "acme.yaml", text: manifestText(changes), kind: "manifest", lock: { lockDigest } }],
      { subject: "manifests" },
    );
    if (expected === undefined) {
      assert.ok("kind" in source);
      assert.deepEqual(diagnostics, []);
    } else {
      assert.ok("path" in source && source.path === "image.digest");
      assert.match(diagnostics.map(({ message }) => message).join("\n"), expected);
    }
  }
});

test("placeholderVariables() names a variable for each sealed credential", () => {
  const credentials = [
    "credentials:",
    '  - { id: a, type: api_key, inject: { header: X-A, format: "{token}" } }',
    '  - { id: b, type: api_key, inject: { header: X-B, format: "{token}" }, placeholderEnv: ACME_B }',
  ];
  const variables = placeholderVariables(manifestOf({}, ...credentials));
  assert.deepEqual(
    [...variables],
    [
      ["a", "TOOLCRIB_PLACEHOLDER"],
      ["b", "ACME_B"],
    ],
  );
  const check = (lines: readonly string[], tier: string, expected: RegExp) => {
    const { diagnostics } = parseManifest({ name: "acme.yaml", text: manifestText({ tier }, ...lines) });
    assert.match(diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n"), expected);
  };
  const entrusted = "  - { id: a, type: custom_env, inject: { env: A }, placeholderEnv: B }";
  check(["credentials:", entrusted], "entrusted", /MANIFEST_PLACEHOLDER_ENV .*entrusted tier/);
  const twice = credentials.map((line) =>
    line.replace('"{token}" } }', '"{token}" }, placeholderEnv: ACME_B }'),
  );
  check(twice, "sealed", /MANIFEST_PLACEHOLDER_ENV .*same placeholderEnv/);
  const loaded = entrusted.replace("env: A", "env: LD_PRELOAD");
  check(["credentials:", loaded], "entrusted", /MANIFEST_LOADER_VARIABLE .*inject\.env: LD_PRELOAD/);
  const options = twice.map((line) => line.replace("ACME_B", "NODE_OPTIONS"));
  check(options, "sealed", /MANIFEST_LOADER_VARIABLE .*placeholderEnv: NODE_OPTIONS/);
  const wrong = credentials.map((line) => line.replace("ACME_B", '"a b"'));
  check(wrong, "sealed", /MANIFEST_PLACEHOLDER_ENV/);
});

test("a requirement of a manifest is one value, of a server", () => {
  const check = (
    requirement: string,
    expected: RegExp | undefined,
    changes: { readonly [field: string]: string } = {},
  ) => {
    const text = manifestText(changes, "requires:", `  - ${requirement}`);
    const { diagnostics } = parseManifest({ name: "acme.yaml", text });
    const found = diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n");
    if (expected === undefined) assert.equal(found, "");
    else assert.match(found, expected);
  };
  check("{ variable: ACME_URL, description: its address }", undefined);
  check("{ argument: FOLDER, option: --root, value: read_folder }", undefined);
  check("{ description: nothing }", /MANIFEST_REQUIREMENT_INVALID .*neither variable nor argument/);
  check("{ variable: A, argument: B }", /MANIFEST_REQUIREMENT_INVALID .*has variable and argument/);
  check("{ variable: A, option: --a }", /MANIFEST_REQUIREMENT_INVALID .*no argument/);
  check("{ variable: a b }", /MANIFEST_REQUIREMENT_INVALID/);
  check("{ variable: A, value: secret }", /MANIFEST_REQUIREMENT_INVALID/);
  check("{ variable: NODE_OPTIONS }", /MANIFEST_LOADER_VARIABLE .*NODE_OPTIONS/);
  check("{ variable: A }\n  - { variable: A }", /MANIFEST_REQUIREMENT_INVALID Duplicate variable "A"/);
  check("{ variable: A }", /MANIFEST_REQUIREMENT_INVALID .*is for servers/, { builder: "toolpack" });
});

test("rewriteTools() changes the lines of added and removed tools, and no other byte", () => {
  const check = (
    lines: readonly string[],
    [missing, undeclared]: readonly [readonly string[], readonly string[]],
    expected: readonly string[] | undefined,
    newline = "\n",
  ) => {
    const textOf = (own: readonly string[]) => manifestText({}, ...own).replaceAll("\n", newline);
    const changed = rewriteTools(textOf(lines), { missing, undeclared });
    assert.equal(changed, expected === undefined ? undefined : textOf(expected));
  };
  const list = [
    "tools:",
    "  # first",
    "  - {name: a, default: true}  # why",
    "",
    "  - name: b",
    "    default: true",
    "# end",
  ];
  check(list, [[], []], list);
  check(list, [["a"], []], ["tools:", "  # first", "", "  - name: b", "    default: true", "# end"]);
  check(list, [["b"], ["c"]], [...list.slice(0, 4), "  - {name: c, default: false}", "# end"]);
  check(list, [["b"], ["c"]], [...list.slice(0, 4), "  - {name: c, default: false}", "# end"], "\r\n");
  check(
    list,
    [[], ["c", "on"]],
    [...list.slice(0, 6), "  - {name: c, default: false}", '  - {name: "on", default: false}', "# end"],
  );
  check(list, [["a", "b"], []], ["tools: []", "  # first", "", "# end"]);
  check(
    ["tools: []", "category: data"],
    [[], ["a"]],
    ["tools:", "  - {name: a, default: false}", "category: data"],
  );
  check(["tools:"], [[], ["a"]], ["tools:", "  - {name: a, default: false}"]);
  check(["category: data"], [[], ["a"]], ["category: data", "tools:", "  - {name: a, default: false}"]);
  check(["tools: [{name: a}, {name: b}]"], [["a"], []], undefined);
  check(["tools:", "- name: a"], [[], ["b"]], ["tools:", "- name: a", "- {name: b, default: false}"]);
});

test("lintLiveTools() reports both kinds of differences, at their places", () => {
  const text = manifestText({}, "tools:", "  - {name: reed_file}", "  - {name: list}");
  const findings = lintLiveTools({ name: "acme.yaml", text }, ["list", "read_file"]);
  assert.deepEqual(
    findings.map(({ code, hint, span }) => [code, hint, text.slice(span?.start, span?.end)]),
    [
      ["MANIFEST_TOOL_ABSENT", "the server has read_file", "reed_file"],
      ["MANIFEST_TOOL_UNDECLARED", "add {name: read_file, default: false}", "tools"],
    ],
  );
  assert.deepEqual(lintLiveTools({ name: "acme.yaml", text }, ["list", "reed_file"]), []);
});
