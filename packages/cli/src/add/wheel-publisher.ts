/** Reads the publisher of a fetched Python package from its metadata. The package wrote it itself. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readRegularFile } from "@toolcrib/files";
import type { StoredPackage } from "@toolcrib/runners";
import type { CliContext } from "../cli-context.ts";
import { fetchedFolder } from "../sandbox/fetched-store.ts";
import type { OfferFact } from "./offer.ts";
import { ownLock } from "./show-offer.ts";

const metadataMaxBytes = 1024 * 1024;
const urlsMaxCount = 4;
const textMaxLength = 300;

/** Returns author, license and addresses; none where they cannot be read. */
export async function publisherOfWheel(
  context: CliContext,
  fetched: StoredPackage,
): Promise<readonly OfferFact[]> {
  const own = ownLock(fetched);
  if (own === undefined) return [];
  const lib = join(fetchedFolder(context), fetched.key, fetched.receipt.folder, "venv", "lib");
  const [python] = await namesIn(lib);
  if (python === undefined) return [];
  const packages = join(lib, python, "site-packages");
  // A folder is named `name_with_underscores-1.2.dist-info`.
  const wanted = plainName(own.name);
  const folder = (await namesIn(packages)).find(
    (name) => name.endsWith(".dist-info") && plainName(name.slice(0, name.indexOf("-"))) === wanted,
  );
  if (folder === undefined) return [];
  try {
    const { bytes } = await readRegularFile(join(packages, folder, "METADATA"), metadataMaxBytes);
    return factsOf(new TextDecoder().decode(bytes));
  } catch {
    // Nothing is known then; the package runs without it.
    return [];
  }
}

function factsOf(text: string): readonly OfferFact[] {
  const [head = ""] = text.split(/\r?\n\r?\n/, 1);
  const all = head.split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^([A-Za-z-]+): (.+)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value: value.slice(0, textMaxLength) }];
  });
  const first = (...names: readonly string[]) => all.find(({ name }) => names.includes(name))?.value;
  const author = first("Author", "Author-email", "Maintainer", "Maintainer-email");
  const license = first("License-Expression", "License");
  const urls = all
    .filter(({ name }) => name === "Project-URL" || name === "Home-page")
    .slice(0, urlsMaxCount);
  return [
    ...(author === undefined
      ? []
      : [["author", `${author.replace(/\s*<[^>]*>/, "")} (as the package says)`] as const]),
    ...(license === undefined ? [] : [["license", license] as const]),
    ...urls.map(({ value }) => ["address", value] as const),
  ];
}

function plainName(name: string): string {
  return name.replace(/[-_.]+/g, "-").toLowerCase();
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch {
    // A package of another layout.
    return [];
  }
}
