/**
 * `npm run release`: the published packages, each built, packed and checked, in `release/`.
 *
 *     npm run release -- --dry-run           builds, packs and checks; publishes nothing
 *     npm run release -- image --out FILE    writes the image of the gateway as a tar archive; --platform linux/arm64 for others
 *     npm run release -- version 0.2.0       sets the version of all packages and dates the changelog
 *     npm run release                        also publishes, with provenance, from a clean commit with the tag of its version
 *
 * Exits with 1 when a package breaks a rule, 2 when it is called in the wrong way.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkPackage } from "./release/check-package.ts";
import { type ImageTarget, writeGatewayImage } from "./release/gateway-image.ts";
import { type PackedPackage, packPackage } from "./release/pack-package.ts";
import { publishedPackages } from "./release/published-packages.ts";
import { findRepository, whyNotPublishable } from "./release/repository-state.ts";
import { setVersion } from "./release/set-version.ts";
import { writePackage } from "./release/write-package.ts";

const root = join(import.meta.dirname, "..");
const [first, second, ...others] = process.argv.slice(2);
const image = first === "image" ? imageTarget() : undefined;

if (image !== undefined) {
  await writeImage(image);
} else if (first === "version" && second !== undefined && others.length === 0) {
  report(setVersion(root, second, new Date()));
} else if (first === undefined || (first === "--dry-run" && second === undefined)) {
  await release(first === "--dry-run");
} else {
  console.error(
    "usage: npm run release -- [--dry-run | version X.Y.Z | image --out FILE [--platform linux/amd64]…]",
  );
  process.exitCode = 2;
}

/** Where the image is written; undefined for a command line that does not say so. */
function imageTarget(): ImageTarget | undefined {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { out: { type: "string" }, platform: { type: "string", multiple: true } },
  });
  const platforms = (values.platform ?? ["linux/amd64"]).flatMap((given) =>
    (["linux/amd64", "linux/arm64"] as const).filter((known) => known === given),
  );
  return values.out === undefined || platforms.length === 0 ? undefined : { out: values.out, platforms };
}

async function writeImage(target: ImageTarget): Promise<void> {
  const published = publishedPackages.find(({ name }) => name === "toolcrib");
  if (published === undefined) throw new Error("The package toolcrib is not published");
  const folder = join(root, "release", "image");
  await writePackage(root, published, folder, findRepository(root));
  const { reference, digest, archiveDigest, bytes } = writeGatewayImage(root, folder, target);
  console.log(`${reference}  ${digest}\n  ${target.out}  ${(bytes / 1e6).toFixed(1)} MB  ${archiveDigest}`);
}

async function release(isDry: boolean): Promise<void> {
  if (!isDry) {
    const problems = whyNotPublishable(root);
    if (problems.length > 0) return report(problems);
  }
  const packed = await packAll();
  if (packed === undefined || isDry) return;
  for (const { tarball, name, version } of packed) {
    const { status } = spawnSync("npm", ["publish", tarball], { stdio: "inherit" });
    if (status !== 0) return report([`npm did not publish ${name} ${version}`]);
  }
}

/** Builds, packs and checks all packages. @returns undefined where one breaks a rule */
async function packAll(): Promise<readonly PackedPackage[] | undefined> {
  const folder = join(root, "release");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const repository = findRepository(root);
  const all: PackedPackage[] = [];
  const problems: string[] = [];
  for (const published of publishedPackages) {
    const home = join(folder, published.name.replace("@", "").replace("/", "-"));
    await writePackage(root, published, home, repository);
    const packed = packPackage(home, folder);
    all.push(packed);
    const found = await checkPackage(root, published, home, packed);
    problems.push(...found.map((problem) => `${published.name}: ${problem}`));
    const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
    console.log(
      `${packed.name} ${packed.version}  ${packed.files} files, ${megabytes(packed.unpackedBytes)} MB, ` +
        `${megabytes(packed.bytes)} MB packed\n  ${packed.tarball}\n  ${packed.integrity}`,
    );
  }
  if (problems.length === 0) return all;
  report(problems);
  return undefined;
}

function report(problems: readonly string[]): void {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
