import { existsSync, readFileSync } from "node:fs";

/** The version of this package, read from the nearest `package.json` above this module. */
export function readPackageVersion(): string {
  let folder = new URL(".", import.meta.url);
  while (!existsSync(new URL("package.json", folder))) {
    const above = new URL("..", folder);
    // The build was copied out of its package.
    if (above.href === folder.href) return UNKNOWN_VERSION;
    folder = above;
  }
  const manifest: unknown = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const hasVersion = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return hasVersion ? String(manifest.version) : UNKNOWN_VERSION;
}

const UNKNOWN_VERSION = "unknown";
