import assert from "node:assert/strict";
import { test } from "node:test";
import { addPackages, initRegistry, type PackageRegistries } from "@toolcrib/mcpkg-registry";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import { archiveOf, at, named, open, registryKey } from "./fixtures.ts";

const local = (language: string, program: string, platforms?: readonly string[]) => ({
  id: `in-${language}`,
  language,
  ...(platforms === undefined ? {} : { platforms }),
  endpoint: { type: "local", command: `${program} tool` },
});

/** The package of the MCPKG document, section 10.2, and others. */
const packages: readonly { readonly manifest: object; readonly files?: object }[] = [
  {
    manifest: {
      toolId: "tools.pdf.read_local",
      name: "Read PDFs Locally",
      description: "Read and extract text/structure from PDFs on the local machine.",
      capabilities: ["pdf", "local", "fs"],
      endpoint: undefined,
      implementations: [
        local("javascript", "node", ["linux-x64", "win-x64"]),
        local("python", "python", ["darwin-arm64"]),
      ],
      meta: { license: "MIT", publisher: { name: "Tools Inc" } },
    },
    files: { tool: "" },
  },
  {
    manifest: {
      toolId: "cloud.pdf.read",
      name: "Cloud PDF reader",
      description: "Reads PDFs in the cloud.",
      capabilities: ["pdf"],
      meta: { license: "(Apache-2.0 OR MIT)" },
    },
  },
  {
    manifest: {
      toolId: "tools.text.clean",
      name: "Clean text",
      description: "Removes white space.",
      capabilities: ["text"],
      endpoint: { type: "local", command: "python tool" },
      tests: ["tests/hyphens.test.json"],
      examples: ["examples/use.md"],
      meta: { license: "proprietary", tags: ["typography"] },
    },
    files: {
      tool: "",
      "tests/hyphens.test.json": JSON.stringify({ name: "joins_hyphenated_words", input: {}, expected: {} }),
      "examples/use.md": "Useful before summarizing transcripts.",
    },
  },
];

async function openPackages(directory: TemporaryDirectory): Promise<PackageRegistries> {
  const folder = directory.join("registry");
  await initRegistry(at(0), folder, registryKey, { name: "acme" });
  const archives = packages.map(({ manifest, files }) => archiveOf(manifest, null, files));
  archives.push(
    archiveOf(
      { ...packages[1]?.manifest, version: "2.0.0-rc.1", description: "A reader of tomorrow." },
      null,
    ),
  );
  await addPackages(at(0), folder, registryKey, named(...archives), { allowsUnsigned: true });
  return await open(directory.join("home"), [{ name: "acme", place: { kind: "folder", path: folder } }]);
}

test("packages are found by words in every field, and filtered", async () => {
  await using directory = await makeTemporaryDirectory();
  const registries = await openPackages(directory);
  const find = (...args: Parameters<PackageRegistries["search"]>) =>
    registries.search(...args).map(({ entry }) => entry.toolId);
  const [read, cloud, clean] = ["tools.pdf.read_local", "cloud.pdf.read", "tools.text.clean"];
  const all = (words: string, filter: Parameters<PackageRegistries["search"]>[1] = {}) =>
    find(words, filter, 10);

  assert.deepEqual(
    all("read PDFs locally", {
      language: "javascript",
      platform: "linux-x64",
      capabilities: ["pdf"],
      license: "MIT",
    }),
    [read],
  );
  assert.deepEqual(all("read PDFs").sort(), [cloud, read]);
  for (const [words, expected] of [
    ["tools.text.clean", clean],
    ["white space", clean],
    ["typography", clean],
    ["hyphenated", clean],
    ["transcripts", clean],
    ["Tools Inc", read],
    ["cloud", cloud],
  ] as const) {
    assert.equal(all(words)[0], expected, words);
  }
  const filtered: readonly (readonly [
    filter: Parameters<PackageRegistries["search"]>[1],
    ids: readonly (string | undefined)[],
  ])[] = [
    [{}, [cloud, read, clean]],
    [{ capabilities: ["PDF"] }, [cloud, read]],
    [{ capabilities: ["pdf", "fs"] }, [read]],
    [{ language: "python" }, [read, clean]],
    [{ language: "py", platform: "darwin-arm64" }, [read, clean]],
    // The implementation in JavaScript does not run there.
    [{ language: "node", platform: "darwin-arm64" }, []],
    [{ platform: "linux-arm64" }, [cloud, clean]],
    [{ license: "mit" }, [cloud, read]],
    [{ license: "Apache-2.0" }, [cloud]],
    [{ license: "apache" }, []],
    [{ language: "ruby" }, []],
  ];
  for (const [filter, ids] of filtered) assert.deepEqual(all("", filter), ids, JSON.stringify(filter));
  assert.deepEqual(find("", {}, 1), [cloud]);
  // Releases come before pre-releases of later versions.
  assert.equal(registries.search("cloud", {}, 1)[0]?.entry.version, "1.0.0");
});
