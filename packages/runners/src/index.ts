// For other packages here.
export { runnersCodes } from "./codes.ts";
export { type FetchExit, type FetchExitRequest, FetchSandbox } from "./fetch-sandbox.ts";
export { PackageStore, type StoredPackage } from "./package-store.ts";
export {
  goRegistryUrls,
  npmRegistryUrls,
  originsOf,
  proxyChooser,
  pythonIndexes,
} from "./registry-origins.ts";
