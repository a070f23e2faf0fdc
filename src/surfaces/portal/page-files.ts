import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A file of the built app, with its compressed form. */
export interface PageFile {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly gzipped: Uint8Array;
}

/** The built app. */
export interface PageFiles {
  readonly index: PageFile;
  /** By file name. A name contains a hash of the content. */
  readonly assets: ReadonlyMap<string, PageFile>;
}

/**
 * Returns a function that reads the built app from its folder once and keeps the files in memory: a later build replaces the
 * files of the folder, and pages of a running bridge must still find theirs. The function returns undefined while the
 * folder has no build.
 */
export function createPageFileReader(
  findFolder: () => string | undefined,
): () => Promise<PageFiles | undefined> {
  let reading: Promise<PageFiles | undefined> | undefined;
  return async () => {
    reading ??= readPageFiles(findFolder());
    const files = await reading;
    if (files === undefined) reading = undefined;
    return files;
  };
}

async function readPageFiles(folder: string | undefined): Promise<PageFiles | undefined> {
  if (folder === undefined) return undefined;
  try {
    const names = await readdir(join(folder, "assets"));
    const assets = await Promise.all(
      names.map(async (name) => [name, await readPageFile(join(folder, "assets", name))] as const),
    );
    return { index: await readPageFile(join(folder, "index.html")), assets: new Map(assets) };
  } catch {
    return undefined;
  }
}

const compress = promisify(gzip);

async function readPageFile(path: string): Promise<PageFile> {
  const bytes = await readFile(path);
  const contentType = CONTENT_TYPES.get(extname(path)) ?? "application/octet-stream";
  return { contentType, bytes, gzipped: await compress(bytes, { level: 9 }) };
}

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
  [".png", "image/png"],
  [".woff2", "font/woff2"],
]);
