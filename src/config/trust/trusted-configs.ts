import { dirname, join } from "node:path";
import { isObject, parseJson } from "../../data/json.ts";
import { digestValue, digestText } from "../../platform/digest.ts";
import { digestFile } from "../../platform/files/file-digest.ts";
import { readSavedFile, saveFile } from "../../platform/files/private-files.ts";
import { withErrorFile } from "../error-path.ts";
import { listCodeFiles } from "./code-files.ts";
import { readConfig, type Config } from "../read-config.ts";
import { parseConfigText } from "../read-document.ts";
import { readConfigFile } from "../read-config-file.ts";

/** A version of a configuration, including the named code. */
export interface TrustedVersion {
  readonly file: string;
  readonly digest: string;
}

/** A version with a list of its code, for the user's decision about trust. */
export interface ConfigVersion extends TrustedVersion {
  /** Code files. Their imports are not included. */
  readonly files: readonly string[];
  /** Programs with their arguments, prefixed by the names of their MCP servers. */
  readonly commands: readonly string[];
}

/** Reads the current version of a configuration. */
export async function readConfigVersion(file: string): Promise<ConfigVersion> {
  const text = await readConfigFile(file);
  const config = withErrorFile(file, () => readConfig(parseConfigText(text, file)));
  return computeConfigVersion(config, { file, digest: digestText(text) });
}

/**
 * Includes the contents of the code files in the digest: they may change, for example with a `git pull`, while the
 * configuration stays the same.
 */
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
 * Returns true if the user has trusted this version. A folder from elsewhere may contain a configuration, and starting
 * Spanline there does not imply trust. A trusted version stays trusted after other versions.
 */
export async function isTrusted(version: TrustedVersion, directory: string): Promise<boolean> {
  return (await readTrustedVersions(directory)).some((trusted) => isSameVersion(trusted, version));
}

/** Records a version as trusted. The file keeps the latest 1000 versions. */
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

/** An unreadable file means no trusted versions. */
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
