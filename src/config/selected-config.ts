import { realpath } from "node:fs/promises";
import { SpanlineError } from "../domain/errors.ts";
import { digestText } from "../platform/digest.ts";
import { readConfigFile } from "./read-config-file.ts";

/** The configuration selected at the start of a process. */
export interface SelectedConfig {
  readonly file: string;
  /** True if the user named the file; false for a file found upwards. */
  readonly isExplicit: boolean;
}

/** One version of a configuration. */
export interface ConfigFingerprint {
  readonly file: string;
  readonly digest: string;
}

/** Computes the fingerprint of a configuration with this text. */
export async function fingerprintConfig(file: string, text: string): Promise<ConfigFingerprint> {
  return { file: await realpath(file), digest: digestText(text) };
}

export interface ConfigOwner {
  readonly pid: number;
  /** Undefined if the owner runs without a configuration. */
  readonly config?: ConfigFingerprint | undefined;
}

/**
 * Compares the configuration of a joining process with the owner's, whose agents are used in any case. Throws
 * `conflict` if the user named a different configuration. Returns a warning if a different configuration was only
 * found.
 */
export async function checkOwnerConfig(
  selected: SelectedConfig,
  { pid, config }: ConfigOwner,
): Promise<string | undefined> {
  const local = await fingerprintConfig(selected.file, await readConfigFile(selected.file));
  if (local.file === config?.file && local.digest === config.digest) return undefined;
  const has =
    local.file === config?.file
      ? `Process ${pid} runs the sessions with an older version of ${local.file}`
      : `Process ${pid} runs the sessions ${config === undefined ? "without a configuration" : `with ${config.file}`}, not with ${local.file}`;
  if (!selected.isExplicit)
    return `${has}. Fix: end that process to use this file, or choose another --data-dir`;
  const message = `${has}. Fix: end that process, or choose another --data-dir`;
  throw new SpanlineError("conflict", message, { details: { path: "config", pid } });
}
