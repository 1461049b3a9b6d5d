/**
 * Archives that must not be installed, in groups. Everything that a flag can allow is allowed when they
 * are tried, so that only the checks of the archive itself can refuse them.
 */

import { crc32, deflateRawSync } from "node:zlib";
import { readPrivateKey } from "@toolcrib/mcpkg";
import { hostileArchives, rawZip } from "@toolcrib/testing";
import { archiveOf, packageFiles } from "./sample-packages.ts";

/** One archive. */
export interface HostileCase {
  readonly title: string;
  readonly archive: () => Uint8Array;
}

/** A key for these tests alone, so that every run has the same archives. */
const signer = readPrivateKey(`-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
`);
const manifest = packageFiles({ signer: undefined }).get("manifest.json")?.bytes as Uint8Array;
const base = [{ name: "manifest.json", data: Buffer.from(manifest) }];
type Entry = Parameters<typeof rawZip>[0][number];
const zip = (...entries: readonly Entry[]) => rawZip([...base, ...entries]);

function structureCases(): readonly HostileCase[] {
  return hostileArchives(base);
}

function pathCases(): readonly HostileCase[] {
  const prefixes = [
    ...["../", "../../", "a/../../", "./", "./../", "a/b/../../../", "a/./", "a//", "/", "//", "a./"],
    ...["C:/", "C:", "c:\\", "\\\\host\\share\\", "..\\", "a\\..\\..\\", "\\"],
  ];
  const targets = [
    "x",
    "etc/passwd",
    ".ssh/authorized_keys",
    ".mcp/tools/demo.other/manifest.json",
    "mcp.lock",
  ];
  const forms: readonly ((name: string) => Entry)[] = [
    (name) => ({ name, data: "evil" }),
    (name) => ({ name, data: "evil".repeat(100), method: 8 }),
    (name) => ({ name: `${name}/` }),
    (name) => ({ name, data: "#!/bin/sh", mode: 0o100755 }),
  ];
  const points = [
    ...Array(32).keys(),
    0x7f,
    0x85,
    0xad,
    0x61c,
    0x180e,
    0x200b,
    0x200e,
    0x200f,
    0x2028,
    0x2029,
  ];
  for (let point = 0x202a; point <= 0x202e; point += 1) points.push(point);
  for (let point = 0x2060; point <= 0x206f; point += 1) points.push(point);
  points.push(0xfeff, 0xe000, 0xfff9, 0xe0001, 0x378, 0x10ffff);
  const devices = ["con", "PRN", "aux", "nul", "CONIN$", "conout$", "com¹", "lpt²"];
  for (let digit = 0; digit <= 9; digit += 1) devices.push(`com${digit}`, `LPT${digit}`);
  const names = [
    ...prefixes.flatMap((prefix) => targets.map((target) => `${prefix}${target}`)),
    ...points.flatMap((point) => {
      const character = String.fromCodePoint(point);
      return [`${character}a`, `a${character}b.md`, `docs/a${character}`];
    }),
    ...devices.flatMap((device) => [device, `${device}.txt`, `docs/${device}.tar.gz`]),
    ...['a"b', "a<b", "a>b", "a|b", "a?b", "a*b", "a.", "a ", " a", "a/b./c", "a/b /c"],
  ];
  return names.flatMap((name, index) =>
    // Each name in one form, and those that leave the package in all of them.
    (index < prefixes.length * targets.length ? forms : forms.slice(0, 1)).map((form, at) => ({
      title: `path ${JSON.stringify(name)}, form ${at}`,
      archive: () => zip(form(name)),
    })),
  );
}

function collisionCases(): readonly HostileCase[] {
  const alike = [
    ...[
      "README.md readme.md",
      "a.js A.JS",
      "ﬁle file",
      "① 1",
      "ａ a",
      "ſ s",
      "K k",
      "\u212b \u00c5",
      "ß ẞ",
      "ŉ ʼn",
    ],
    ...[
      "Σ ς",
      "σ ς",
      "İ i̇",
      "² 2",
      "ﬆ st",
      "½ 1⁄2",
      "ﬀ ff",
      "ﬃ ffi",
      "Ⅷ VIII",
      "µ μ",
      "\u2126 \u03a9",
      "manifest.json MANIFEST.JSON",
    ],
  ].map((pair) => pair.split(" ") as [string, string]);
  return alike.flatMap(([one, other]) => {
    const both: readonly (readonly Entry[])[] = [
      [{ name: one }, { name: other }],
      [{ name: other }, { name: one }],
      [{ name: `docs/${one}` }, { name: `docs/${other}` }],
      [{ name: `${one}/a` }, { name: `${other}/b` }],
      [{ name: `${one}/` }, { name: other }],
    ];
    return both.map((entries, at) => ({
      title: `${JSON.stringify(one)} and ${JSON.stringify(other)}, form ${at}`,
      archive: () => (one === "manifest.json" ? rawZip(entries) : zip(...entries)),
    }));
  });
}

function typeCases(): readonly HostileCase[] {
  const cases: HostileCase[] = [];
  for (let type = 1; type <= 15; type += 1) {
    // A regular file is none of them.
    if (type === 8) continue;
    for (const data of ["/etc/passwd", "../../outside", ""]) {
      const mode = (type << 12) | 0o777;
      cases.push({ title: `type ${type}, ${data}`, archive: () => zip({ name: "link", data, mode }) });
    }
  }
  return cases;
}

const small = archiveOf({ signer, files: { "docs/a.md": "# A\n" } });

function truncationCases(): readonly HostileCase[] {
  return Array.from({ length: small.length }, (_, length) => ({
    title: `the first ${length} of ${small.length} bytes`,
    archive: () => small.subarray(0, length),
  }));
}

function flipped(archive: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(archive);
  changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
  return changed;
}

function smallFlipCases(): readonly HostileCase[] {
  if (small.length > 4096) throw new Error(`The small package has ${small.length} bytes`);
  return Array.from({ length: small.length * 8 }, (_, bit) => ({
    title: `bit ${bit} of ${small.length} bytes`,
    archive: () => flipped(small, bit),
  }));
}

function largeFlipCases(): readonly HostileCase[] {
  const content = Buffer.from(Array.from({ length: 200_000 }, (_, n) => (n * 7919) >> 3));
  const files = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`data/${n}.bin`, content]));
  const large = archiveOf({ signer, files });
  // Park and Miller, so that every run has the same bits.
  let state = 20_260_101;
  return Array.from({ length: 2000 }, () => {
    state = (state * 48_271) % 2_147_483_647;
    const bit = state % (large.length * 8);
    return { title: `bit ${bit} of ${large.length} bytes`, archive: () => flipped(large, bit) };
  });
}

const mebibyte = 1024 * 1024;

/** Archives that cost much: each is tried in a process of its own. */
function heavyCases(): readonly HostileCase[] {
  const zeros = (bytes: number, packedBytes: number): Entry => {
    const data = Buffer.alloc(bytes);
    const packed = deflateRawSync(data);
    return {
      name: `zeros-${bytes}`,
      size: bytes,
      checksum: crc32(data),
      method: 8,
      packed: Buffer.concat([packed, Buffer.alloc(Math.max(0, packedBytes - packed.length))]),
    };
  };
  const manifestOf = (changes: object) =>
    Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(manifest).toString()), ...changes }));
  const withManifest = (data: Buffer) => rawZip([{ name: "manifest.json", data }]);
  const signedLarge = () => archiveOf({ signer, files: { "data/x.bin": Buffer.alloc(63 * mebibyte, 7) } });
  const schema = (properties: object) => ({ type: "object", properties });
  const many = (count: number, one: (n: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, one(n)]));
  return [
    { title: "a bomb of 4 GiB", archive: () => zip({ ...zeros(mebibyte, 0), size: 0xffff_fffe }) },
    { title: "a bomb of 60 MiB", archive: () => zip(zeros(60 * mebibyte, 0)) },
    {
      title: "a bomb at the greatest ratio, with bytes after its content",
      archive: () => zip(zeros(60 * mebibyte, 700_000)),
    },
    {
      title: "500 bombs",
      archive: () =>
        rawZip([
          ...base,
          ...Array.from({ length: 499 }, (_, n) => ({ ...zeros(mebibyte, 0), name: `z${n}` })),
        ]),
    },
    {
      title: "entries that share one bomb",
      archive: () =>
        rawZip([
          ...base,
          zeros(60_000, 0),
          ...Array.from({ length: 400 }, (_, n) => ({ ...zeros(60_000, 0), name: `z${n}`, sameAs: 1 })),
        ]),
    },
    { title: "64 MiB of nothing", archive: () => Buffer.alloc(64 * mebibyte) },
    { title: "65 MiB", archive: () => Buffer.alloc(65 * mebibyte) },
    {
      title: "a signed package of 63 MiB with one changed byte",
      archive: () => flipped(signedLarge(), 8 * 30 * mebibyte),
    },
    {
      title: "a signed package of 63 MiB with another time",
      archive: () => {
        const archive = signedLarge();
        return flipped(archive, 8 * 10);
      },
    },
    {
      title: "a manifest of 1 MiB of brackets",
      archive: () => withManifest(Buffer.alloc(mebibyte - 1, "[")),
    },
    {
      title: "a manifest of more than 1 MiB",
      archive: () => withManifest(manifestOf({ description: "x".repeat(mebibyte) })),
    },
    {
      title: "a manifest of a million values",
      archive: () => withManifest(manifestOf({ extra: Array(400_000).fill(0), input_schema: [] })),
    },
    {
      title: "schemas with thousands of patterns",
      archive: () =>
        withManifest(
          manifestOf({
            input_schema: schema(many(4000, (n) => ({ type: "string", pattern: `^(a+)+${n}(` }))),
          }),
        ),
    },
    {
      title: "schemas that refer to each other",
      archive: () =>
        withManifest(
          manifestOf({
            input_schema: {
              ...schema(many(3000, (n) => ({ $ref: `#/properties/p${(n + 1) % 3000}` }))),
              required: 1,
            },
          }),
        ),
    },
    {
      title: "400 tests that are missing",
      archive: () =>
        withManifest(manifestOf({ tests: Array.from({ length: 400 }, (_, n) => `tests/${n}.test.json`) })),
    },
    {
      title: "a chain of 64 steps of a tool that is none",
      archive: () =>
        withManifest(
          manifestOf({
            chain: Array.from({ length: 64 }, (_, n) => ({
              step: `s${n}`,
              tool: "demo.x",
              inputMapping: many(200, () => `$${"[0]".repeat(300)}`),
              outputKey: `s${n}`,
            })),
          }),
        ),
    },
  ];
}

/** The groups by name. */
export const hostileGroups: { readonly [name: string]: () => readonly HostileCase[] } = {
  structure: structureCases,
  paths: pathCases,
  collisions: collisionCases,
  types: typeCases,
  truncations: truncationCases,
  "flips of a package of less than 4 kB": smallFlipCases,
  "flips of a package of 1 MB": largeFlipCases,
  heavy: heavyCases,
};
