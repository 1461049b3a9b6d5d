/** A registry for npm packages on a loopback port, which serves packages that tests publish. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

interface Published {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly tarball: Buffer;
  readonly integrity: string;
  /** Where the registry says that the tarball is; undefined for the registry itself. */
  readonly elsewhere: string | undefined;
}

/** A registry with the packages that were published to it. */
export class NpmRegistry implements AsyncDisposable {
  readonly #packages: Published[] = [];
  /** Paths that were requested, oldest first. */
  readonly requests: string[] = [];
  readonly #server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    this.requests.push(path);
    const file = this.#packages.find((one) => path === tarballName(one));
    if (file !== undefined) {
      response.end(file.tarball);
      return;
    }
    const versions = this.#packages.filter(({ manifest }) => manifest.name === path);
    response.statusCode = versions.length === 0 ? 404 : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(versions.length === 0 ? { error: "not found" } : this.#packument(versions)));
  });

  /** Listens. @param port a free one by default. @param address another one only within a network of a test */
  async listen(port = 0, address = "127.0.0.1"): Promise<this> {
    await new Promise<void>((resolve) => {
      this.#server.listen(port, address, resolve);
    });
    return this;
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${address}:${port}/`;
  }

  /** Publishes a package. @param files contents by path. @param wrong integrity of another tarball, or another place */
  publish(
    manifest: Published["manifest"] & { readonly [key: string]: unknown },
    files: { readonly [path: string]: string },
    wrong: { readonly integrity?: string; readonly elsewhere?: string } = {},
  ): void {
    const folder = mkdtempSync(join(tmpdir(), "toolcrib-publish-"));
    const all = { ...files, "package.json": JSON.stringify(manifest) };
    for (const [path, text] of Object.entries(all)) {
      const file = join(folder, "package", path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      chmodSync(file, 0o755);
    }
    execFileSync("tar", ["-czf", "package.tgz", "package"], { cwd: folder });
    const tarball = readFileSync(join(folder, "package.tgz"));
    rmSync(folder, { recursive: true });
    this.publishArchive(manifest, tarball, wrong);
  }

  /** Publishes an archive that npm packed. @param manifest its package.json. @param wrong as for `publish` */
  publishArchive(
    manifest: Published["manifest"],
    tarball: Buffer,
    wrong: { readonly integrity?: string; readonly elsewhere?: string } = {},
  ): void {
    const own = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const { integrity = own, elsewhere } = wrong;
    this.#packages.push({ manifest, tarball, integrity, elsewhere });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #packument(versions: readonly Published[]): unknown {
    return {
      name: versions[0]?.manifest.name,
      "dist-tags": { latest: versions.at(-1)?.manifest.version },
      versions: Object.fromEntries(
        versions.map((one) => [
          one.manifest.version,
          {
            ...one.manifest,
            dist: { tarball: (one.elsewhere ?? this.url) + tarballName(one), integrity: one.integrity },
          },
        ]),
      ),
    };
  }
}

function tarballName({ manifest }: Published): string {
  return `${manifest.name}/-/${manifest.version}.tgz`;
}
