import { join } from "node:path";
import { isObject, parseJson } from "../../data/json.ts";
import { readSavedFile } from "../../platform/files/private-files.ts";
import type { ConfigFingerprint } from "../../config/selected-config.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The address and token of the process that owns a data directory. The file is readable by its user only. */
export interface BridgeFile {
  readonly address: string;
  readonly token: string;
  readonly version: string;
  readonly pid: number;
  /** The configuration of its agents. Undefined for agents without a configuration. */
  readonly config?: ConfigFingerprint;
}

/** Reads the file. Undefined if the file is missing or invalid. */
export async function readBridgeFile(directory: string): Promise<BridgeFile | undefined> {
  const text = await readSavedFile(join(directory, "bridge.json"));
  const parsed = parseJson(text ?? "");
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { address, token, version, pid } = parsed.value;
  if (typeof address !== "string" || typeof token !== "string") return undefined;
  if (typeof version !== "string" || typeof pid !== "number") return undefined;
  const config = parseConfigFingerprint(parsed.value["config"]);
  return { address, token, version, pid, ...omitUndefined({ config }) };
}

function parseConfigFingerprint(value: unknown): ConfigFingerprint | undefined {
  const { file, digest } = isObject(value) ? value : {};
  return typeof file === "string" && typeof digest === "string" ? { file, digest } : undefined;
}
