/**
 * The image `node:24-bookworm-slim` for tests, without a registry: the packages of Debian that are installed on this
 * machine, Node of the repository and npm of the machine. Packages that a Dockerfile installs come from a repository in
 * the image, with the files of those that are installed here. It reads the machine, and writes one folder.
 */

import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { runProcess } from "@toolcrib/testing";

const database = "/var/lib/dpkg";
/** The packages that each system of Debian has besides those that it requires, and the libraries that Node loads. */
const ofEverySystem = ["apt", "libstdc++6", "libatomic1"];
/** The files that the small images of Debian leave out, too. */
const unneeded = /^\/usr\/share\/(?:doc|info|lintian|locale|man)\/./;
/** Links to programs that no package owns. */
const alternatives = ["/usr/bin/awk", "/etc/alternatives/awk"];
const packageScripts = ["preinst", "postinst", "prerm", "postrm"];
const packageState = [...packageScripts, "config", "templates", "triggers", "conffiles"];

/** A package that is installed. */
interface DebianPackage {
  readonly name: string;
  /** Its entry in the database of packages. */
  readonly text: string;
}

/** Returns why this machine cannot be the contents of an image with these packages; undefined where it can. */
export function reasonWithoutMachineImage(packages: readonly string[]): string | undefined {
  if (!existsSync(join(database, "status"))) return "this system is not Debian";
  const installed = readInstalled();
  const missing = [...ofEverySystem, ...packages].filter((name) => !installed.has(name));
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`;
  return npmFolder() === undefined ? "npm is not installed" : undefined;
}

/**
 * Writes the image as a tar archive, which `docker import` reads.
 *
 * @param folder is empty
 * @param given.installable packages that are not installed in the image, and can be
 * @param given.files other files by their paths
 * @returns the path of the archive
 */
export async function writeMachineImage(
  folder: string,
  given: { readonly installable: readonly string[]; readonly files: { readonly [path: string]: string } },
): Promise<string> {
  const installed = readInstalled();
  const required = [...installed.values()].filter(({ text }) => fieldOf(text, "Priority") === "required");
  const own = withDependencies(installed, [...required.map(({ name }) => name), ...ofEverySystem]);
  const later = withDependencies(installed, given.installable).filter((one) => !own.includes(one));

  const extra = join(folder, "extra");
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(extra, path)), { recursive: true });
    writeFileSync(join(extra, path), text);
  };
  for (const name of ["passwd", "group"])
    write(`etc/${name}`, readFileSync(`/usr/share/base-passwd/${name}.master`, "utf8"));
  write(join(database, "status"), own.map(({ text }) => `${text}\n`).join("\n"));
  write("etc/apt/sources.list", "deb [trusted=yes] file:/srv/packages ./\n");
  for (const [path, text] of Object.entries(given.files)) write(path, text);
  await writeRepository(join(extra, "srv/packages"), join(folder, "packages"), later);
  mkdirSync(join(extra, "usr/local/bin"), { recursive: true });
  copyFileSync(process.execPath, join(extra, "usr/local/bin/node"));
  for (const name of ["npm", "npx"])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(extra, "usr/local/bin", name));

  const archive = join(folder, "image.tar");
  const paths = [
    ...own.flatMap((one) => [...pathsOf(one), ...statePaths(one)]),
    ...alternatives.flatMap((path) => realPath(path) ?? []),
  ];
  const named = { archive, list: join(folder, "list") };
  await appendFiles({ ...named, from: "/", paths: [...new Set(paths)].map((path) => path.slice(1)) });
  const added = readdirSync(extra, { recursive: true, encoding: "utf8" });
  await appendFiles({ ...named, from: extra, paths: added.filter((path) => !isFolder(join(extra, path))) });
  const npm = npmFolder() ?? "";
  await appendFiles({
    ...named,
    from: npm,
    paths: readdirSync(npm, { recursive: true, encoding: "utf8" }),
    below: "usr/local/lib/node_modules/npm",
  });
  return archive;
}

/** Appends files to an archive as files of root. @param target.below the folder in the archive. @default its root */
async function appendFiles(target: {
  readonly archive: string;
  readonly list: string;
  readonly from: string;
  readonly paths: readonly string[];
  readonly below?: string;
}): Promise<void> {
  writeFileSync(target.list, target.paths.map((path) => `${path}\0`).join(""));
  const place = target.below === undefined ? [] : [`--transform=flags=r;s,^,${target.below}/,`];
  const owner = target.from === "/" ? [] : ["--owner=0", "--group=0", "--mode=u+rw,go+r,go-w"];
  const options = ["--no-recursion", "--null", "--verbatim-files-from", ...owner, ...place];
  await succeed("tar", [
    ...["--append", "--file", target.archive, "--directory", target.from, ...options],
    ...["--files-from", target.list],
  ]);
}

/** Returns the installed packages by their names. */
function readInstalled(): ReadonlyMap<string, DebianPackage> {
  const entries = readFileSync(join(database, "status"), "utf8").trim().split("\n\n");
  return new Map(
    entries
      .filter((text) => fieldOf(text, "Status")?.endsWith(" installed") === true)
      .map((text) => ({ name: fieldOf(text, "Package") ?? "", text }))
      .map((one) => [one.name, one]),
  );
}

function fieldOf(text: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
}

/** Returns packages and everything that they depend on, as it is installed. */
function withDependencies(
  installed: ReadonlyMap<string, DebianPackage>,
  names: readonly string[],
): readonly DebianPackage[] {
  const provided = new Map(
    [...installed.values()].flatMap(({ name, text }) =>
      (fieldOf(text, "Provides") ?? "").split(/, */).map((entry) => [entry.split(" ")[0] ?? "", name]),
    ),
  );
  const found = new Map<string, DebianPackage>();
  const next = [...names];
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    const one = installed.get(name);
    if (one === undefined || found.has(name)) continue;
    found.set(name, one);
    for (const field of ["Depends", "Pre-Depends"])
      for (const entry of (fieldOf(one.text, field) ?? "").split(/, */)) {
        const choices = entry.split("|").map((choice) => choice.trim().split(/[ :]/)[0] ?? "");
        const chosen = choices.find((choice) => installed.has(choice));
        next.push(
          chosen ?? choices.map((choice) => provided.get(choice)).find((one) => one !== undefined) ?? "",
        );
      }
  }
  return [...found.values()];
}

/** Returns the files and folders of a package, without links in the folders of their paths. */
function pathsOf({ name }: DebianPackage): readonly string[] {
  const [list = ""] = globSync([`${database}/info/${name}.list`, `${database}/info/${name}:*.list`]);
  const paths = readFileSync(list, "utf8").trim().split("\n");
  return paths
    .filter((path) => path !== "/." && !unneeded.test(path))
    .flatMap((path) => realPath(path) ?? []);
}

/** Returns the files of the database of packages about one. */
function statePaths({ name }: DebianPackage): readonly string[] {
  return globSync([`${database}/info/${name}.*`, `${database}/info/${name}:*`]);
}

/** Returns the path without links in its folder; undefined where nothing is there. */
function realPath(path: string): string | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  return join(realpathSync(dirname(path)), basename(path));
}

function isFolder(path: string): boolean {
  return lstatSync(path).isDirectory();
}

/** Packs installed packages again, and writes the index that apt reads. @param work an unused folder */
async function writeRepository(
  folder: string,
  work: string,
  packages: readonly DebianPackage[],
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const entries: string[] = [];
  for (const one of packages) {
    const tree = join(work, one.name);
    mkdirSync(join(tree, "DEBIAN"), { recursive: true });
    const files = { archive: join(work, `${one.name}.tar`), list: join(work, `${one.name}.list`) };
    await appendFiles({ ...files, from: "/", paths: pathsOf(one).map((path) => path.slice(1)) });
    await succeed("tar", [
      "--extract",
      "--preserve-permissions",
      "--file",
      files.archive,
      "--directory",
      tree,
    ]);
    const control = one.text
      .replace(/^(?:Status|Config-Version): .*\n/gm, "")
      .replace(/^Conffiles:\n(?: .*\n?)*/m, "")
      .trimEnd();
    writeFileSync(join(tree, "DEBIAN/control"), `${control}\n`);
    for (const path of statePaths(one)) {
      const kind = path.slice(path.lastIndexOf(".") + 1);
      if (!packageState.includes(kind)) continue;
      copyFileSync(path, join(tree, "DEBIAN", kind));
      chmodSync(
        join(tree, "DEBIAN", kind),
        packageScripts.includes(kind) || kind === "config" ? 0o755 : 0o644,
      );
    }
    const name = `${one.name}.deb`;
    await succeed("dpkg-deb", ["--build", "-Znone", tree, join(folder, name)]);
    const bytes = readFileSync(join(folder, name));
    const digest = createHash("sha256").update(bytes).digest("hex");
    entries.push(`${control}\nFilename: ./${name}\nSize: ${bytes.length}\nSHA256: ${digest}\n`);
  }
  writeFileSync(join(folder, "Packages"), entries.join("\n"));
}

/** Returns the folder of npm on this machine. */
function npmFolder(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const command = folders.map((folder) => join(folder, "npm")).find((path) => existsSync(path));
  return command === undefined ? undefined : dirname(dirname(realpathSync(command)));
}

async function succeed(program: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await runProcess(program, args);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${stderr}`);
}
