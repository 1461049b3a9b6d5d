/** The packages of npm whose modules a bundle contains, with their licenses. Reads only. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One package of npm. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** As its package.json states it. */
  readonly license: string | undefined;
  readonly licenseText: string | undefined;
}

/** Returns the packages that the modules belong to, sorted by name and version; modules of this repository belong to none. */
export function bundledPackages(modules: readonly string[]): readonly BundledPackage[] {
  const folders = new Set(modules.flatMap((path) => folderOfPackage(path.replace(/^\0/, "")) ?? []));
  const packages = [...folders].map((folder): BundledPackage => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly [field: string]: string | undefined;
    };
    const licenseFile = readdirSync(folder).find((file) => /^licen[cs]e(?:\.|$)/i.test(file));
    const licenseText =
      licenseFile === undefined ? undefined : readFileSync(join(folder, licenseFile), "utf8");
    return { name: name ?? "", version: version ?? "", license, licenseText };
  });
  const keyOf = (one: BundledPackage) => `${one.name}@${one.version}`;
  return [...new Map(packages.map((one) => [keyOf(one), one])).values()].toSorted((one, other) =>
    keyOf(one) < keyOf(other) ? -1 : 1,
  );
}

/** Returns one text with the licenses of all packages, for people who receive the bundle. */
export function licenseTexts(packages: readonly BundledPackage[]): string {
  const texts = packages.map(
    ({ name, version, license, licenseText }) =>
      `${name} ${version} (${license ?? "license not stated"})\n\n${licenseText?.trim() ?? "Its package contains no license text."}\n`,
  );
  return `This package contains the following packages of npm.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** Returns the folder of the package of npm that has the module; undefined for modules of this repository. */
function folderOfPackage(path: string): string | undefined {
  if (!path.includes("node_modules")) return undefined;
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, "package.json");
    // Folders of a package can have a package.json that says only how modules are read.
    if (existsSync(file) && "version" in (JSON.parse(readFileSync(file, "utf8")) as object)) return folder;
  }
  return undefined;
}
