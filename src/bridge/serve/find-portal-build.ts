import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The folder with the built browser app: `portal` in a folder above this module, up to the folder of the package.
 * Undefined if the app is not built, or if the bridge runs from its sources.
 */
export function findPortalBuild(): string | undefined {
  let folder = new URL(".", import.meta.url);
  for (;;) {
    // The sources have a folder of this name, without built files.
    if (existsSync(new URL("portal/assets", folder)))
      return fileURLToPath(new URL("portal", folder));
    const above = new URL("..", folder);
    if (above.href === folder.href || existsSync(new URL("package.json", folder))) return undefined;
    folder = above;
  }
}
