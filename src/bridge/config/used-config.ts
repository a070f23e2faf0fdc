import { realpath } from "node:fs/promises";
import { SpanlineError } from "../../domain/errors.ts";
import { digestOfText } from "../../platform/digest.ts";
import { readText } from "./read-text.ts";

/** The configuration that a process was started with. */
export interface UsedConfig {
  readonly file: string;
  /** Whether somebody named it; else it was found. */
  readonly isNamed: boolean;
}

/** One version of a configuration. */
export interface ConfigMark {
  readonly file: string;
  readonly digest: string;
}

/** Of a configuration with this text. */
export async function markOf(file: string, text: string): Promise<ConfigMark> {
  return { file: await realpath(file), digest: digestOfText(text) };
}

export interface ConfigOwner {
  readonly pid: number;
  /** Undefined where it runs without one. */
  readonly config?: ConfigMark | undefined;
}

/**
 * The agents are those of the owner, whatever configuration a process that joins it has. One that was named is not passed
 * over in silence: that is refused. Of one that was found it is said, which is what comes back.
 */
export async function passedOver(
  used: UsedConfig,
  { pid, config }: ConfigOwner,
): Promise<string | undefined> {
  const own = await markOf(used.file, await readText(used.file));
  if (own.file === config?.file && own.digest === config.digest) return undefined;
  const has =
    own.file === config?.file
      ? `Process ${pid} runs the sessions with ${own.file} as it was before it was changed`
      : `Process ${pid} runs the sessions ${config === undefined ? "without a configuration" : `with ${config.file}`}, and not with ${own.file}`;
  if (!used.isNamed) return `${has}: end it to use this one, or choose another --data-dir`;
  const message = `${has}; end it, or choose another --data-dir`;
  throw new SpanlineError("conflict", message, { details: { path: "config", pid } });
}
