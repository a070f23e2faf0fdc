import { dirname, join } from "node:path";
import { isObject, parseJson } from "../../data/json.ts";
import { digestValue, digestText } from "../../platform/digest.ts";
import { digestFile } from "../../platform/files/file-digest.ts";
import { readSavedFile, saveFile } from "../../platform/files/private-files.ts";
import { listCodeFiles } from "./code-files.ts";
import { readConfig, type Config } from "../read-config.ts";
import { parseConfigText } from "../read-document.ts";
import { readConfigFile } from "../read-config-file.ts";

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
export async function readConfigVersion(file: string): Promise<ConfigVersion> {
  const text = await readConfigFile(file);
  return computeConfigVersion(readConfig(parseConfigText(text, file)), {
    file,
    digest: digestText(text),
  });
}

/** The text of a configuration says little of the code that it names, which changes with the next `git pull`. */
export async function computeConfigVersion(
  { agents }: Config,
  { file, digest: text }: TrustedVersion,
): Promise<ConfigVersion> {
  const named = await Promise.all(agents.map((agent) => listCodeFiles(agent, dirname(file))));
  const files = [...new Set(named.flat())].sort();
  const contents: (string | null)[] = [];
  for (const path of files) contents.push(await digestFile(path));
  const commands = agents.flatMap(({ programs }) =>
    programs.map(({ server, command, args }) => `${server}: ${[command, ...args].join(" ")}`),
  );
  return { file, digest: digestValue({ text, files, contents }), files, commands };
}

/**
 * Whether a configuration may run code because its user said so. A folder that came from somewhere else may have one, too,
 * and starting in it is not to say so. A version that was trusted once stays so, whatever came between.
 */
export async function isTrusted(version: TrustedVersion, directory: string): Promise<boolean> {
  return (await readTrustedVersions(directory)).some((trusted) => isSameVersion(trusted, version));
}

export async function trustConfig(
  { file, digest }: TrustedVersion,
  directory: string,
): Promise<void> {
  const version = { file, digest };
  const others = (await readTrustedVersions(directory)).filter(
    (entry) => !isSameVersion(entry, version),
  );
  const trusted = [...others, version].slice(-MAX_ENTRIES);
  await saveFile(join(directory, FILE_NAME), `${JSON.stringify({ trusted }, null, 2)}\n`);
}

const FILE_NAME = "trusted-configs.json";
const MAX_ENTRIES = 1000;

function isSameVersion(version: TrustedVersion, other: TrustedVersion): boolean {
  return version.file === other.file && version.digest === other.digest;
}

/** What cannot be read is no trust. */
async function readTrustedVersions(directory: string): Promise<readonly TrustedVersion[]> {
  const parsed = parseJson((await readSavedFile(join(directory, FILE_NAME))) ?? "{}");
  const list = parsed.ok && isObject(parsed.value) ? parsed.value["trusted"] : [];
  return Array.isArray(list) ? list.filter(isTrustedVersion) : [];
}

function isTrustedVersion(value: unknown): value is TrustedVersion {
  return (
    isObject(value) && typeof value["file"] === "string" && typeof value["digest"] === "string"
  );
}
