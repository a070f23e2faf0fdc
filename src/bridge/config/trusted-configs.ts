import { dirname, join } from "node:path";
import { isObject, parseJson } from "../../domain/json.ts";
import { digestOf, digestOfText } from "../../platform/digest.ts";
import { digestOfFile } from "../../platform/file-digest.ts";
import { readSavedFile, saveFile } from "../../platform/saved-file.ts";
import { codeOf } from "./code-of.ts";
import { readConfig, type Config } from "./read-config.ts";
import { documentIn } from "./read-document.ts";
import { readText } from "./read-text.ts";

/** One version of a configuration, and of the code that it names. */
export interface TrustedVersion {
  readonly file: string;
  readonly digest: string;
}

/** The same, with what it lets run, for whoever is to trust it. */
export interface ConfigVersion extends TrustedVersion {
  /** Files of code. What those import is not among them. */
  readonly files: readonly string[];
  /** Programs with their arguments, by the names of the MCP servers that they are. */
  readonly commands: readonly string[];
}

/** A configuration as it is now. */
export async function versionAt(file: string): Promise<ConfigVersion> {
  const text = await readText(file);
  return versionOf(readConfig(documentIn(text, file)), { file, digest: digestOfText(text) });
}

/** The text of a configuration says little of the code that it names, which changes with the next `git pull`. */
export async function versionOf(
  { agents }: Config,
  { file, digest: text }: TrustedVersion,
): Promise<ConfigVersion> {
  const named = await Promise.all(agents.map((agent) => codeOf(agent, dirname(file))));
  const files = [...new Set(named.flat())].sort();
  const contents: (string | null)[] = [];
  for (const one of files) contents.push(await digestOfFile(one));
  const commands = agents.flatMap(({ programs }) =>
    programs.map(({ server, command, args }) => `${server}: ${[command, ...args].join(" ")}`),
  );
  return { file, digest: digestOf({ text, files, contents }), files, commands };
}

/**
 * Whether a configuration may run code because its user said so. A folder that came from somewhere else may have one, too,
 * and starting in it is not to say so. A version that was trusted once stays so, whatever came between.
 */
export async function isTrusted(version: TrustedVersion, directory: string): Promise<boolean> {
  return (await readTrusted(directory)).some((one) => isSame(one, version));
}

export async function trust({ file, digest }: TrustedVersion, directory: string): Promise<void> {
  const version = { file, digest };
  const others = (await readTrusted(directory)).filter((one) => !isSame(one, version));
  const trusted = [...others, version].slice(-MOST_KEPT);
  await saveFile(join(directory, NAME), `${JSON.stringify({ trusted }, null, 2)}\n`);
}

const NAME = "trusted-configs.json";
const MOST_KEPT = 1000;

function isSame(one: TrustedVersion, other: TrustedVersion): boolean {
  return one.file === other.file && one.digest === other.digest;
}

/** What cannot be read is no trust. */
async function readTrusted(directory: string): Promise<readonly TrustedVersion[]> {
  const parsed = parseJson((await readSavedFile(join(directory, NAME))) ?? "{}");
  const list = parsed.ok && isObject(parsed.value) ? parsed.value["trusted"] : [];
  return Array.isArray(list) ? list.filter(isEntry) : [];
}

function isEntry(value: unknown): value is TrustedVersion {
  return (
    isObject(value) && typeof value["file"] === "string" && typeof value["digest"] === "string"
  );
}
