// For other packages here.
export type { RegistrySource } from "./client/open-registry.ts";
export { openRegistries, type PackageRegistries } from "./client/package-registries.ts";
export type { SendRegistryRequest } from "./client/read-registry-file.ts";
export {
  isRegistryPath,
  isRegistryUrl,
  type RegistryPlace,
  readRegistryUrl,
  showPlace,
} from "./client/registry-place.ts";
export { verifyRegistry } from "./client/verify-registry.ts";
export {
  changeRegistry,
  initRegistry,
  type RegistryFolder,
  readRegistryFolder,
  rotateRegistryKey,
} from "./folder/registry-folder.ts";
export { addPackages, removePackage, yankPackage } from "./folder/registry-packages.ts";
export { bundleFolderName, toBundleEntry } from "./import/bundle-entry.ts";
export type { GivenValues } from "./import/input-values.ts";
export { bundleMaxBytes, openBundle } from "./import/open-bundle.ts";
export {
  type ImportedServer,
  readServerJson,
  type ServerOffer,
  toServerEntry,
} from "./import/read-server-json.ts";
export type { IndexEntry } from "./index/index-entry.ts";
export { serveRegistry } from "./serve/serve-registry.ts";
