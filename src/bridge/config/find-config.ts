import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const NAMES = ["spanline.config.yaml", "spanline.config.yml", "spanline.config.json"] as const;

/** The nearest configuration from a folder upwards. */
export function findConfig(from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const found = NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined) return found;
    if (folder === dirname(folder)) return undefined;
  }
}
