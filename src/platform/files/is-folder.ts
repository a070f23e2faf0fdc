import { stat } from "node:fs/promises";

/** False if the path does not exist, is a file or cannot be read. */
export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
