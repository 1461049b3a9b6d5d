import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { archiveLayout, buildImage, compareBuild, toProvenance } from "@toolcrib/toolpack-image";
import { sampleEngine, sampleRuntime, sampleToolpack } from "./samples.ts";

type Files = Map<string, Uint8Array>;

/** A built image as a folder and as an archive, and its provenance. */
function built(isMany: boolean) {
  const runtimes = isMany
    ? [sampleRuntime, { ...sampleRuntime, platform: "linux/arm64" as const }]
    : [sampleRuntime];
  const toolpacks = [sampleToolpack("alpha")];
  const image = buildImage({ toolpacks, engine: sampleEngine, runtimes });
  const manifests = [...image.manifests].filter(([, digest]) => digest !== image.digest);
  const statement = toProvenance({
    subjects: [
      { name: image.reference, digest: image.digest },
      ...manifests.map(([platform, digest]) => ({ name: `${image.reference} (${platform})`, digest })),
    ],
    toolpacks,
    engine: sampleEngine,
    platforms: runtimes.map(({ platform }) => platform),
    formats: ["image"],
  });
  const folder: Files = new Map(
    [...image.files].map(([path, parts]) => [`image/${path}`, Buffer.concat(parts)]),
  );
  const archive: Files = new Map([["alpha.oci.tar", Buffer.concat(archiveLayout(image))]]);
  return { statement, folder, archive, image };
}

const differencesOf = ({ statement }: ReturnType<typeof built>, files: Files) =>
  compareBuild(statement, files, false).differences.join("; ");

test("compareBuild() follows an image to each of its blobs, in a folder and in an archive", () => {
  for (const isMany of [false, true]) {
    const one = built(isMany);
    assert.equal(differencesOf(one, one.folder), "");
    assert.equal(differencesOf(one, one.archive), "");
    for (const path of one.folder.keys()) {
      const changed = new Map(one.folder).set(path, Buffer.from("{}"));
      assert.notEqual(differencesOf(one, changed), "", `changed: ${path}`);
      const removed = new Map(one.folder);
      removed.delete(path);
      // Old versions of Docker alone read this file.
      assert.equal(differencesOf(one, removed) !== "", path !== "image/manifest.json", `removed: ${path}`);
    }
  }
});

test("compareBuild() finds what a runtime could load in place of the image", () => {
  const one = built(false);
  const other = buildImage({
    toolpacks: [sampleToolpack("alpha")],
    engine: { ...sampleEngine, bytes: Buffer.from("evil") },
    runtimes: [sampleRuntime],
  });
  const evil = new Map([...other.files].map(([path, parts]) => [`image/${path}`, Buffer.concat(parts)]));
  assert.match(
    differencesOf(one, evil),
    /its digest is sha256:.*, which the provenance does not name; .* is missing/,
  );
  const mixed = new Map([...evil, ...one.folder]);
  assert.match(differencesOf(one, mixed), /"blobs\/sha256\/.*" was added/);
  const docker = new Map(one.folder).set(
    "image/manifest.json",
    evil.get("image/manifest.json") as Uint8Array,
  );
  assert.match(differencesOf(one, docker), /"manifest\.json" is not about the same image/);
  const index = JSON.parse(Buffer.from(one.folder.get("image/index.json") as Uint8Array).toString()) as {
    manifests: unknown[];
  };
  const two = JSON.stringify({ ...index, manifests: [...index.manifests, ...index.manifests] });
  const listed = new Map(one.folder).set("image/index.json", Buffer.from(two));
  assert.match(differencesOf(one, listed), /does not name one image/);
  const tar = one.archive.get("alpha.oci.tar") as Uint8Array;
  // A link after the files, which the reader of this package leaves out.
  const link = Buffer.alloc(512);
  link.write("blobs", 0);
  link.write("/etc", 157);
  link.write("2", 156);
  const longer = Buffer.concat([tar.subarray(0, -1024), link, tar.subarray(-1024)]);
  assert.match(
    differencesOf(one, new Map([["alpha.oci.tar", longer]])),
    /contains more than the files of an image/,
  );
  assert.match(
    differencesOf(one, new Map([["alpha.oci.tar", Buffer.from("x".repeat(600))]])),
    /not an archive|contains more/,
  );
});

test("compareBuild() believes no type that the index of an image states", () => {
  const { statement, image } = built(false);
  const text = Buffer.from(JSON.stringify({ schemaVersion: 2, config: {}, layers: [] }));
  const digest = hash("sha256", text, "hex");
  const json = (value: object) => Buffer.from(JSON.stringify(value));
  for (const mediaType of [
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.layer.v1.tar",
  ]) {
    const files = new Map<string, Uint8Array[]>([
      ["oci-layout", [json({ imageLayoutVersion: "1.0.0" })]],
      [
        "index.json",
        [
          json({
            schemaVersion: 2,
            manifests: [{ mediaType, digest: `sha256:${digest}`, size: text.length }],
          }),
        ],
      ],
      [`blobs/sha256/${digest}`, [text]],
    ]);
    const archive = Buffer.concat(archiveLayout({ ...image, files }));
    const { differences } = compareBuild(statement, new Map([["alpha.oci.tar", archive]]), true);
    assert.match(differences.join("; "), /does not name an image of OCI/, mediaType);
  }
});
