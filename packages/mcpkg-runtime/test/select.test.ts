/** The selection among implementations, on machines that the tests describe. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Manifest } from "@toolcrib/mcpkg";
import { candidatesOf, selectImplementations } from "@toolcrib/mcpkg-runtime";

type Implementation = NonNullable<Manifest["implementations"]>[number];
type Machine = Parameters<typeof selectImplementations>[1];
type Runtime = Awaited<ReturnType<Machine["runtimes"]>>[number];

interface Described {
  readonly platform?: string;
  readonly node?: Runtime["version"];
  readonly python?: readonly Runtime["version"][];
  readonly dotnet?: readonly Runtime["version"][];
  readonly libraries?: { readonly [name: string]: string };
  readonly gpu?: boolean;
}

function machineOf(described: Described): Machine {
  const { platform = "linux-x64", node = [24, 0, 0], python = [], dotnet = [], libraries = {} } = described;
  const all = { node: [node], python, dotnet };
  return {
    platform,
    runtimes: async (kind) =>
      all[kind].map((version) => ({ kind, command: `${kind}${version.join(".")}`, version })),
    libraryVersion: async (_runtime, name) => libraries[name],
    hasGpu: async () => described.gpu === true,
  };
}

/** The three implementations of the MCPKG document, section 10.2. */
const document: readonly Implementation[] = [
  {
    id: "node-pdfjs",
    language: "javascript",
    runtime: "node",
    platforms: ["linux-x64", "win-x64", "darwin-arm64"],
    endpoint: { type: "local", command: "node ./sdk/javascript/pdf-read.js" },
    requirements: { minNodeVersion: "18.0.0" },
  },
  {
    id: "dotnet-itext",
    language: "dotnet",
    runtime: "net8.0",
    platforms: ["win-x64", "linux-x64"],
    endpoint: { type: "local", command: "dotnet ./sdk/dotnet/PdfReader.dll" },
  },
  {
    id: "python-pymupdf",
    language: "python",
    runtime: "python3.11",
    platforms: ["linux-x64", "darwin-arm64"],
    endpoint: { type: "local", command: "python ./sdk/python/pdf_reader.py" },
    requirements: { packages: ["PyMuPDF>=1.23.0"] },
  },
];

function manifestOf(
  implementations: readonly Implementation[],
  endpoint?: NonNullable<Manifest["endpoint"]>,
): Manifest {
  return {
    toolId: "tools.pdf.read_local",
    name: "Read PDFs",
    version: "1.0.0",
    description: "Reads PDFs.",
    capabilities: [],
    implementations,
    ...(endpoint === undefined ? {} : { endpoint }),
    input_schema: {},
    output_schema: {},
  };
}

async function usable(
  implementations: readonly Implementation[],
  machine: Described,
  selection: Parameters<typeof selectImplementations>[2] = {},
): Promise<readonly string[]> {
  const candidates = candidatesOf(manifestOf(implementations));
  const verdicts = await selectImplementations(candidates, machineOf(machine), selection);
  assert.ok(verdicts.every(({ reasons }) => reasons.length > 0));
  return verdicts.filter(({ isUsable }) => isUsable).map(({ candidate }) => candidate.id);
}

const everything = {
  python: [[3, 11, 4]],
  dotnet: [[8, 0, 11]],
  libraries: { PyMuPDF: "1.24.1" },
} as const;

test("selectImplementations() on platforms, runtimes and requirements of the document's example", async () => {
  const [js, net, py] = ["node-pdfjs", "dotnet-itext", "python-pymupdf"];
  const rows: readonly [Described, readonly (string | undefined)[]][] = [
    [everything, [js, net, py]],
    [{ ...everything, platform: "win-x64" }, [js, net]],
    [{ ...everything, platform: "darwin-arm64" }, [js, py]],
    [{ ...everything, platform: "linux-arm64" }, []],
    [{ ...everything, node: [16, 20, 0] }, [net, py]],
    [{ ...everything, node: [18, 0, 0] }, [js, net, py]],
    [{ ...everything, dotnet: [] }, [js, py]],
    [{ ...everything, dotnet: [[9, 0, 0]] }, [js, py]],
    [
      {
        ...everything,
        dotnet: [
          [6, 0, 1],
          [8, 0, 0],
        ],
      },
      [js, net, py],
    ],
    [{ ...everything, python: [[3, 10, 9]] }, [js, net]],
    [
      {
        ...everything,
        python: [
          [3, 10, 9],
          [3, 13, 0],
        ],
      },
      [js, net, py],
    ],
    [{ ...everything, python: [[2, 7, 18]] }, [js, net]],
    [{ ...everything, libraries: {} }, [js, net]],
    [{ ...everything, libraries: { PyMuPDF: "1.22.5" } }, [js, net]],
    [{ ...everything, libraries: { PyMuPDF: "1.23.0" } }, [js, net, py]],
    [{}, [js]],
  ];
  for (const [machine, expected] of rows) {
    assert.deepEqual(await usable(document, machine), expected, JSON.stringify(machine));
  }
});

test("selectImplementations() on single requirements", async () => {
  const check = async (more: Partial<Implementation>, machine: Described, isUsable: boolean) => {
    const one: Implementation = { id: "one", endpoint: { type: "local", command: "node a.js" }, ...more };
    assert.deepEqual(
      await usable([one], machine),
      isUsable ? ["one"] : [],
      JSON.stringify({ more, machine }),
    );
  };
  const local = (command: string): Partial<Implementation> => ({ endpoint: { type: "local", command } });
  await check({}, {}, true);
  await check({ platforms: ["windows-amd64"] }, { platform: "win-x64" }, true);
  await check({ platforms: ["osx-arm64"] }, { platform: "darwin-arm64" }, true);
  await check({ platforms: [] }, {}, false);
  await check({ runtime: "node20" }, { node: [22, 1, 0] }, true);
  await check({ runtime: "node26" }, { node: [22, 1, 0] }, false);
  await check({ runtime: "python3.11" }, { python: [[3, 12, 0]] }, false);
  await check({ runtime: "bun" }, {}, false);
  await check({ runtime: "browser" }, {}, false);
  await check({ requirements: { gpu: true } }, {}, false);
  await check({ requirements: { gpu: true } }, { gpu: true }, true);
  await check({ requirements: { gpu: false } }, {}, true);
  await check({ requirements: { cuda: "12" } }, { gpu: true }, false);
  await check({ requirements: { minNodeVersion: "soon" } }, {}, false);
  await check({ requirements: { minNodeVersion: "24" } }, { node: [24, 0, 0] }, true);
  await check({ requirements: { packages: ["left-pad"] } }, {}, false);
  await check({ requirements: { packages: ["left-pad"] } }, { libraries: { "left-pad": "1.3.0" } }, true);
  await check(
    { requirements: { packages: ["@scope/a~=1.2"] } },
    { libraries: { "@scope/a": "1.9.0" } },
    true,
  );
  await check(
    { requirements: { packages: ["@scope/a~=1.2"] } },
    { libraries: { "@scope/a": "2.0.0" } },
    false,
  );
  await check({ requirements: { packages: ["a==1.*,!=1.5"] } }, { libraries: { a: "1.4.9" } }, true);
  await check({ requirements: { packages: ["a==1.*,!=1.5"] } }, { libraries: { a: "1.5.0" } }, false);
  await check({ requirements: { packages: ["a; import os"] } }, { libraries: { a: "1.0.0" } }, false);
  await check({ requirements: { packages: "a" } }, { libraries: { a: "1.0.0" } }, false);
  await check(local("python3.12 a.py"), { python: [[3, 11, 0]] }, false);
  await check(local("python3.12 a.py"), { python: [[3, 12, 0]] }, true);
});

test("selectImplementations() ranks by measurements, then by the manifest, and the endpoint is the last", async () => {
  const measured = new Map([
    ["node-pdfjs", { passRate: 0.5, latencyMs: 10, runs: 2 }],
    ["dotnet-itext", { passRate: 1, latencyMs: 90, runs: 2 }],
    ["python-pymupdf", { passRate: 1, latencyMs: 40, runs: 2 }],
  ]);
  const ranked = await usable(document, everything, { measurements: measured });
  assert.deepEqual(ranked, ["python-pymupdf", "dotnet-itext", "node-pdfjs"]);
  // One that was never tested comes after those that passed, and before those that failed.
  measured.delete("dotnet-itext");
  const partly = await usable(document, everything, { measurements: measured });
  assert.deepEqual(partly, ["python-pymupdf", "dotnet-itext", "node-pdfjs"]);
  const endpoint = { type: "http", method: "POST", url: "https://api.example.com/pdf" } as const;
  const candidates = candidatesOf(manifestOf(document, endpoint));
  const verdicts = await selectImplementations(candidates, machineOf(everything));
  assert.equal(verdicts.at(-1)?.candidate.id, "endpoint");
  assert.deepEqual(await usable(document, everything, { language: "python" }), ["python-pymupdf"]);
  assert.deepEqual(await usable(document, everything, { implementation: "dotnet-itext" }), ["dotnet-itext"]);
});

test("selectImplementations() gives each implementation its reasons", async () => {
  const machine = machineOf({ python: [[3, 10, 0]] });
  const verdicts = await selectImplementations(candidatesOf(manifestOf(document)), machine);
  assert.deepEqual(
    verdicts.map(({ candidate, reasons }) => [candidate.id, reasons]),
    [
      [
        "node-pdfjs",
        [
          "it supports linux-x64",
          "node is there: node 24.0.0",
          "minNodeVersion 18.0.0 is met",
          "rank 1: it has no tests that ran: the order of the manifest decides",
        ],
      ],
      ["dotnet-itext", ["it needs net8.0, and this machine has no dotnet"]],
      ["python-pymupdf", ["it needs python3.11, and this machine has python 3.10.0"]],
    ],
  );
});

test("selectImplementations() refuses requirements that would take long to judge", async () => {
  const asked: string[] = [];
  const machine: Machine = {
    ...machineOf({}),
    libraryVersion: async (_runtime, name) => {
      asked.push(name);
      return "1.0.0";
    },
  };
  const verdictOf = async (packages: readonly string[]) => {
    const [node] = document;
    assert.ok(node);
    const [candidate] = candidatesOf(manifestOf([{ ...node, requirements: { packages: [...packages] } }]));
    assert.ok(candidate);
    const [verdict] = await selectImplementations([candidate], machine);
    return verdict;
  };
  const spaces = await verdictOf([`a${" ".repeat(20_000)}x\ny`]);
  assert.equal(spaces?.isUsable, false);
  assert.match(spaces.reasons.join(), /is not a package with its versions/);
  const many = await verdictOf(Array.from({ length: 65 }, (_, at) => `library-${at}`));
  assert.equal(many?.isUsable, false);
  assert.match(many.reasons.join(), /it needs more than 64 packages/);
  assert.deepEqual(asked, []);
  assert.equal((await verdictOf(["  a  >= 1 , <2  "]))?.isUsable, true);
});

test("selectImplementations() shortens the version of a library in its reasons", async () => {
  const [node] = document;
  assert.ok(node);
  const machine = machineOf({ libraries: { evil: `1.0.0${"x".repeat(60_000)}` } });
  for (const requirement of ["evil>=1", "evil>=2"]) {
    const manifest = manifestOf([{ ...node, requirements: { packages: [requirement] } }]);
    const [verdict] = await selectImplementations(candidatesOf(manifest), machine);
    assert.equal(verdict?.isUsable, requirement === "evil>=1");
    assert.ok(verdict.reasons.every(({ length }) => length < 300));
  }
});
