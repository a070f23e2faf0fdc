import { stat } from "node:fs/promises";

/** False if nothing is at the path, or a file, or if the path cannot be read. */
export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
