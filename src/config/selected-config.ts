import { realpath } from "node:fs/promises";
import { SpanlineError } from "../domain/errors.ts";
import { digestText } from "../platform/digest.ts";
import { readConfigFile } from "./read-config-file.ts";

/** The configuration that a process was started with. */
export interface SelectedConfig {
  readonly file: string;
  /** Whether somebody named it; else it was found. */
  readonly isExplicit: boolean;
}

/** One version of a configuration. */
export interface ConfigFingerprint {
  readonly file: string;
  readonly digest: string;
}

/** Of a configuration with this text. */
export async function fingerprintConfig(file: string, text: string): Promise<ConfigFingerprint> {
  return { file: await realpath(file), digest: digestText(text) };
}

export interface ConfigOwner {
  readonly pid: number;
  /** Undefined where it runs without one. */
  readonly config?: ConfigFingerprint | undefined;
}

/**
 * The agents are those of the owner, whatever configuration a process that joins it has. One that was named is not passed
 * over in silence: that is refused. Of one that was found it is said, which is what comes back.
 */
export async function checkOwnerConfig(
  selected: SelectedConfig,
  { pid, config }: ConfigOwner,
): Promise<string | undefined> {
  const local = await fingerprintConfig(selected.file, await readConfigFile(selected.file));
  if (local.file === config?.file && local.digest === config.digest) return undefined;
  const has =
    local.file === config?.file
      ? `Process ${pid} runs the sessions with ${local.file} as it was before it was changed`
      : `Process ${pid} runs the sessions ${config === undefined ? "without a configuration" : `with ${config.file}`}, and not with ${local.file}`;
  if (!selected.isExplicit) return `${has}: end it to use this one, or choose another --data-dir`;
  const message = `${has}; end it, or choose another --data-dir`;
  throw new SpanlineError("conflict", message, { details: { path: "config", pid } });
}
