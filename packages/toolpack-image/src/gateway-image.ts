/**
 * Builds the image of the gateway: Node with its libraries, as in images of toolpacks, and the files of the published
 * package. Pure.
 *
 *     /usr/local/bin/node       Node, and the libraries that it loads
 *     /app/…                    the package `toolcrib`
 *     /config                   the configuration (a volume or a file that its user mounts)
 *     /home                     the home of the gateway below it, /home/toolcrib (a volume)
 *
 * There is no shell and no package manager: servers that need other programs run in containers of their own.
 */

import { checkReference, type ImageRuntime } from "./build-image.ts";
import { imageUser, runtimeFiles } from "./image-files.ts";
import { type FileParts, type OciLayout, writeLayout } from "./oci-layout.ts";
import { nodePath, runtimeParts } from "./runtime-parts.ts";
import { type TarEntry, writeTar } from "./tar.ts";

/** A file of the published package. */
export interface PackageFile {
  /** Path in the package, with slashes. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/** The sources of the image. */
export interface GatewayImageInput {
  readonly files: readonly PackageFile[];
  readonly version: string;
  /** One for each platform. */
  readonly runtimes: readonly ImageRuntime[];
  /** Name and tag. @default `toolcrib` and the version */
  readonly reference?: string | undefined;
}

const port = 7420;
const healthUrl = `http://127.0.0.1:${port}/healthz`;
const nanosecondsPerSecond = 1_000_000_000;

/** Builds the image. @throws {ToolpackImageError} */
export function buildGatewayImage({
  files,
  version,
  runtimes,
  reference = `toolcrib:${version}`,
}: GatewayImageInput): OciLayout {
  const name = checkReference(reference);
  const app: readonly TarEntry[] = [
    ...files.map(({ path, bytes, isExecutable }) => ({
      path: `app/${path}`,
      bytes,
      mode: isExecutable ? 0o755 : 0o644,
    })),
    { path: "config" },
    // Its user makes a private folder there, also where the user of the container is another one.
    { path: "home", mode: 0o1777 },
  ];
  const upper = { archive: writeTar(app), createdBy: `toolcrib ${version}: gateway` };
  const images = runtimes.map(({ platform, contents, parts }) => {
    const runtime = runtimeFiles(parts ?? runtimeParts(platform), contents);
    // Files of different layers must not replace each other.
    writeTar([...runtime, ...app]);
    const lower: FileParts = writeTar(runtime);
    return {
      platform,
      layers: [{ archive: lower, createdBy: "toolcrib: runtime" }, upper],
      entrypoint: [`/${nodePath}`, "/app/bin/toolcrib.js"],
      command: ["--config", "/config/toolcrib.yaml", "serve", "--quiet", "--listen", `0.0.0.0:${port}`],
      user: `${imageUser}:${imageUser}`,
      env: ["PATH=/usr/local/bin", "HOME=/home", "TOOLCRIB_HOME=/home/toolcrib"],
      volumes: ["/config", "/home"],
      ports: [`${port}/tcp`],
      healthcheck: {
        Test: [
          "CMD",
          `/${nodePath}`,
          "--eval",
          `fetch("${healthUrl}").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`,
        ],
        Interval: 30 * nanosecondsPerSecond,
        Timeout: 5 * nanosecondsPerSecond,
        StartPeriod: 20 * nanosecondsPerSecond,
        Retries: 3,
      },
      labels: {
        "org.opencontainers.image.title": "toolcrib",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "io.toolcrib.version": version,
      },
    };
  });
  return writeLayout(images, name);
}
