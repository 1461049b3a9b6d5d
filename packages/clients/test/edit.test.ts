/** Servers added to the files of clients and removed: everything else stays. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type ClientProgram,
  ClientsError,
  clientPrograms,
  filesOf,
  serverIn,
  withoutServer,
  withServer,
} from "@toolcrib/clients";
import fc from "fast-check";

const url = "http://127.0.0.1:7420/mcp";
const name = "toolcrib";

function client(id: string): ClientProgram {
  const found = clientPrograms.find((program) => program.id === id);
  assert.ok(found, id);
  return found;
}

function entryFor(program: ClientProgram) {
  return (
    program.remote?.({ url, token: "tcb_secret" }) ??
    program.local({ command: "/bin/node", args: ["a b", "--x"] })
  );
}

/** Files as their users keep them, with what an editor that parses and prints would lose. */
const samples: { readonly [id: string]: readonly string[] } = {
  json: [
    "{}\n",
    '{"SECTION":{}}',
    '{\n  // Servers of this user.\n  "SECTION": {\n    "files": { "command": "npx", "args": ["-y", "files"] }, // kept\n  },\n  "theme": "dark",\n}\n',
    '{\r\n\t"editor": { "tabs": true },\r\n\t"SECTION": {\r\n\t\t"files": {\r\n\t\t\t"command": "npx"\r\n\t\t}\r\n\t}\r\n}',
    '\uFEFF{\n    "SECTION": {\n        "one": {"command": "a"},\n        "two": {"command": "b"}\n    }\n}\n',
  ],
  toml: [
    'model = "o4"  # the model\n',
    '# top\nmodel = "o4"\n\n[SECTION.files]\ncommand = "npx" # kept\nargs = [\n  "-y", # one\n  "files",\n]\n\n[SECTION.files.env]\nKEY = \'v\'\n\n[tui]\nnotifications = true\n# end\n',
    '[profiles.fast]\r\nmodel = "x"\r\n\r\n["SECTION"."with space"]\r\ncommand = "a"\r\n',
  ],
  yaml: [
    "name: mine\nversion: 0.0.1\n",
    "# top\nSECTION:\n  files: # kept\n    cmd: npx\n    args: [-y, files]\n    enabled: true\n\n  # another\n  other:\n    enabled: false\nGOOSE_MODEL: x # end\n",
    "SECTION: {}\nGOOSE_MODEL: x\n",
    "\uFEFFSECTION:\n  files:\n    cmd: npx\nGOOSE_MODEL: x\n",
  ],
  list: [
    "name: mine\nversion: 0.0.1\n",
    "SECTION:\n  - name: files # kept\n    command: npx\n    args:\n      - -y\nmodels:\n  - name: x\n",
    "SECTION:\n- name: files\n  command: npx\n\nrules: [] # end\n",
    "SECTION: []\n",
    "\uFEFFname: mine\nSECTION:\n  - name: files\n    command: npx\n",
  ],
};

function samplesFor(program: ClientProgram): readonly string[] {
  const texts = samples[program.isList === true ? "list" : program.format] ?? [];
  return ["", ...texts.map((text) => text.replaceAll("SECTION", program.section))];
}

describe("a server in the file of each client", () => {
  for (const program of clientPrograms) {
    test(`is added to and removed from that of ${program.name}`, () => {
      for (const text of samplesFor(program)) {
        const entry = entryFor(program);
        const added = withServer(text, program, name, entry);
        assert.deepEqual(serverIn(added, program, name), program.isList ? { name, ...entry } : entry, text);
        // Each line of before is there in its order; of JSON, the line before the new member gets a comma.
        assertKept(text, added);
        const changed = withServer(added, program, name, { ...entry, description: "é" });
        assert.equal(serverIn(changed, program, name)?.["description"], "é");
        const removed = withoutServer(changed, program, name);
        assert.equal(serverIn(removed, program, name), undefined);
        assertKept(text, removed);
        assert.equal(withoutServer(removed, program, name), removed);
        if (text.includes("files"))
          assert.equal(withoutServer(added, program, name), withoutServer(text, program, name));
      }
    });
  }

  test("keeps the file of a client with other servers byte for byte when it is removed", () => {
    for (const program of clientPrograms) {
      for (const text of samplesFor(program).filter((sample) => sample.includes("files"))) {
        assert.equal(
          withoutServer(withServer(text, program, name, entryFor(program)), program, name),
          text,
          program.id,
        );
      }
    }
  });

  test("is indented in the same way after a byte order mark", () => {
    const program = client("cursor");
    const added = (text: string) => withServer(text, program, name, entryFor(program));
    assert.equal(added("\uFEFF{}\n"), `\uFEFF${added("{}\n")}`);
  });

  test("leaves an empty section readable, whatever comments follow its name", () => {
    for (const [id, section, item] of [
      ["goose", "extensions", "toolcrib:\n    cmd: a"],
      ["continue", "mcpServers", "- name: toolcrib\n    cmd: a"],
    ] as const) {
      const program = client(id);
      const before = `${section}: # servers\n  # mine\n  ${item}\nmodel: x\n`;
      const removed = withoutServer(before, program, name);
      const empty = program.isList ? "[]" : "{}";
      assert.equal(removed, `${section}: ${empty} # servers\n  # mine\nmodel: x\n`);
      assert.ok(serverIn(withServer(`${section}: ${empty} # servers\n`, program, name, {}), program, name));
    }
  });

  test("is added whatever its texts are", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...clientPrograms),
        fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { maxLength: 4 }),
        (program, args) => {
          const entry = program.local({ command: "node", args });
          const [, sample = ""] = samplesFor(program);
          const added = withServer(sample, program, name, entry);
          assert.deepEqual(serverIn(added, program, name), program.isList ? { name, ...entry } : entry);
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** Asserts that the texts of all lines are in the other text, in their order. */
function assertKept(before: string, after: string): void {
  let at = 0;
  const texts = before
    .split(/\r?\n/)
    .map((line) => line.replace(/[{}[\],]+$/, "").trim())
    .filter((line) => line !== "" && !/^[{}[\]]+$/.test(line));
  for (const line of texts) {
    const found = after.indexOf(line.trimEnd(), at);
    assert.notEqual(found, -1, `${JSON.stringify(line)} is lost in ${JSON.stringify(after)}`);
    at = found + 1;
  }
}

describe("a file that cannot be edited", () => {
  const cases: readonly (readonly [client: string, text: string, message: RegExp])[] = [
    ["cursor", '{ "mcpServers": { "a": } }', /line 1, column 24/],
    ["cursor", "[]", /contains no object/],
    ["cursor", '{ "mcpServers": [] }', /"mcpServers" in the file is no object/],
    ["cursor", '{ "mcpServers": {}, "mcpServers": {} }', /2 members "mcpServers"/],
    ["cursor", '{ "mcpServers": { "toolcrib": {}, "toolcrib": {} } }', /more than once/],
    ["codex", "model = \n", /line 2, column 1/],
    ["codex", "mcp_servers = { a = { command = 'x' } }\n", /written on one line/],
    ["codex", "mcp_servers = 3\n", /no table/],
    ["codex", "[mcp_servers]\ntoolcrib = { command = 'x' }\n", /no table of its own/],
    ["goose", "extensions:\n  a: [\n", /line \d, column/],
    ["goose", "extensions: { a: { cmd: x } }\n", /written on one line/],
    ["goose", "extensions:\n  - a\n", /no map/],
    ["goose", "{ extensions: {} }\n", /no map over several lines/],
    ["continue", "mcpServers:\n  a: {}\n", /no list/],
    ["cursor", `{ "a": ${"[".repeat(100_000)}${"]".repeat(100_000)} }`, /nested too deeply/],
    ["codex", `a = ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`, /nested too deeply/],
    // Where the usual edit would change other entries, or make the file unreadable.
    ["continue", "mcpServers: &all\n  - name: a\nothers: *all\n", /without a change of other entries/],
    ["continue", "mcpServers:\n  - &a\n    name: a\nothers: *a\n", /without a change of other entries/],
    ["continue", "mcpServers:\n  -\n    name: toolcrib\n  - name: a\n", /without a change of other entries/],
    ["continue", "mcpServers:\n  - name: toolcrib\n  - name: toolcrib\n", /more than once/],
    ["continue", "name: mine\n...\n", /without a change of other entries/],
    ["goose", "extensions:\n  toolcrib: &t\n    a: 1\n  b: *t\n", /without a change of other entries/],
    ["goose", "  name: indented\n", /without a change of other entries/],
    ["codex", "[[mcp_servers.toolcrib]]\na = 1\n", /without a change of other entries/],
    ["codex", "[mcp_servers]\ntoolcrib = 1\n", /without a change of other entries/],
  ];
  for (const [id, text, message] of cases) {
    test(`of ${id} is an error: ${JSON.stringify(text.slice(0, 80))}`, () => {
      const program = client(id);
      assert.throws(
        () => withServer(text, program, name, entryFor(program)),
        (error) => error instanceof ClientsError && message.test(error.message) && error.hint !== undefined,
      );
    });
  }
});

describe("the file of a client", () => {
  const linux = { platform: "linux", home: "/home/ada", settings: "/home/ada/.config" } as const;
  const windows = {
    platform: "win32",
    home: "C:\\Users\\ada",
    settings: "C:\\Users\\ada\\AppData\\Roaming",
  } as const;
  const mac = {
    platform: "darwin",
    home: "/Users/ada",
    settings: "/Users/ada/Library/Application Support",
  } as const;
  const check = (id: string, paths: readonly [string, string, string]) =>
    test(`of ${id} is where its documentation says`, () => {
      assert.deepEqual(
        [linux, mac, windows].map((places) => filesOf(client(id), places)[0]),
        paths,
      );
    });
  check("claude-desktop", [
    "/home/ada/.config/Claude/claude_desktop_config.json",
    "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
    "C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
  ]);
  check("codex", [
    "/home/ada/.codex/config.toml",
    "/Users/ada/.codex/config.toml",
    "C:\\Users\\ada\\.codex\\config.toml",
  ]);
  check("goose", [
    "/home/ada/.config/goose/config.yaml",
    "/Users/ada/.config/goose/config.yaml",
    "C:\\Users\\ada\\AppData\\Roaming\\Block\\goose\\config\\config.yaml",
  ]);
  check("zed", [
    "/home/ada/.config/zed/settings.json",
    "/Users/ada/.config/zed/settings.json",
    "C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json",
  ]);

  test("is another one for each client", () => {
    const files = clientPrograms.flatMap((program) => filesOf(program, linux));
    assert.equal(new Set(files).size, files.length);
    assert.deepEqual(
      clientPrograms.map(({ id }) => id),
      clientPrograms.map(({ id }) => id).toSorted(),
    );
  });
});
