import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, parseJson } from "../../domain/json.ts";
import { digestOfText } from "../../platform/digest.ts";
import { readSavedFile, saveFile } from "../../platform/saved-file.ts";

/**
 * Configurations that may run code because their user said so. A folder that came from somewhere else may have one, too,
 * and starting in it is not to say so. One that was changed since has to be looked at again.
 */
export async function isTrusted(file: string, directory: string): Promise<boolean> {
  const digest = digestOfText(await readFile(file, "utf8"));
  return (await readTrusted(directory)).some((one) => one.file === file && one.digest === digest);
}

export async function trust(file: string, directory: string): Promise<void> {
  const digest = digestOfText(await readFile(file, "utf8"));
  const others = (await readTrusted(directory)).filter((one) => one.file !== file);
  const trusted = [...others, { file, digest }].slice(-MOST_KEPT);
  await saveFile(join(directory, NAME), `${JSON.stringify({ trusted }, null, 2)}\n`);
}

const NAME = "trusted-configs.json";
const MOST_KEPT = 1000;

interface Trusted {
  readonly file: string;
  readonly digest: string;
}

/** What cannot be read is no trust. */
async function readTrusted(directory: string): Promise<readonly Trusted[]> {
  const parsed = parseJson((await readSavedFile(join(directory, NAME))) ?? "{}");
  const list = parsed.ok && isObject(parsed.value) ? parsed.value["trusted"] : [];
  return Array.isArray(list) ? list.filter(isEntry) : [];
}

function isEntry(value: unknown): value is Trusted {
  return (
    isObject(value) && typeof value["file"] === "string" && typeof value["digest"] === "string"
  );
}
