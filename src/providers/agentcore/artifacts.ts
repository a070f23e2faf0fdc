import { SpanlineError } from "../../domain/errors.ts";
import {
  NotFoundError,
  createProviderError,
  type ProviderError,
} from "../../domain/provider/provider-error.ts";
import { randomString } from "../../platform/random.ts";
import type { CommandOptions, ProviderSession } from "../provider.ts";
import { collectCommandOutput, type CommandOutput } from "./command-output.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface Artifact {
  readonly name: string;
  readonly bytes: number;
}

/** Files on the agent's machine, by name. They are deleted with the session. */
export interface Artifacts {
  list(signal: AbortSignal): Promise<Artifact[]>;
  fetch(name: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Replaces a file atomically: readers never see a partial file, and a failed put leaves the old file. */
  put(name: string, content: Uint8Array, signal: AbortSignal): Promise<void>;
  delete(name: string, signal: AbortSignal): Promise<void>;
}

export interface ArtifactsOptions {
  /** The folder of the files. Relative paths start at the session's working folder. Default: `artifacts`. */
  readonly folder?: string;
}

type CommandRunner = Required<Pick<ProviderSession, "runCommand">>;

/** Accesses files of a session with POSIX shell commands. */
export function openSessionArtifacts(
  session: CommandRunner,
  { folder = "artifacts" }: ArtifactsOptions = {},
): Artifacts {
  // `./` prevents a leading hyphen from being read as an option.
  const folderPath = quoteShell(folder.startsWith("/") ? folder : `./${folder}`);
  const resolvePath = (name: string): string =>
    `${folderPath}/${quoteShell(checkArtifactName(name))}`;

  async function run(script: string, options: CommandOptions, name?: string): Promise<string> {
    const output = await collectCommandOutput(await session.runCommand(script, options));
    if (output.exitCode === 0 && output.outcome === "completed") return output.stdout;
    throw toCommandError(output, name);
  }

  return {
    async list(signal) {
      const script = `cd ${folderPath} 2>/dev/null || exit 0; for f in *; do case "$f" in *[!A-Za-z0-9._-]*) continue;; esac; [ -f "$f" ] && echo "$(wc -c < "$f") $f"; done; exit 0`;
      const lines = (await run(script, { signal })).split("\n");
      return lines.flatMap((line) => parseArtifact(line) ?? []);
    },
    async fetch(name, signal) {
      const path = resolvePath(name);
      const script = `[ -f ${path} ] || exit ${MISSING_EXIT_CODE}; base64 < ${path}`;
      return Buffer.from(await run(script, { signal }, name), "base64");
    },
    async put(name, content, signal) {
      const path = resolvePath(name);
      // A unique name: a new put must not append to the rest of a failed put.
      const part = `${folderPath}/.part-${randomString(16)}`;
      try {
        await run(`mkdir -p ${folderPath} && : > ${part}`, { signal });
        for (const text of splitBase64(content)) {
          await run(`printf %s ${text} | base64 -d >> ${part}`, { signal });
        }
        // `mv` onto a folder would move the file into it.
        await run(`[ ! -d ${path} ] && mv -f ${part} ${path}`, { signal });
      } catch (error) {
        // Clean up even if the caller aborted, so use a new signal.
        const { signal: cleanupSignal } = new AbortController();
        await run(`rm -f ${part}`, { signal: cleanupSignal }).catch(() => undefined);
        throw error;
      }
    },
    async delete(name, signal) {
      const path = resolvePath(name);
      await run(`[ -f ${path} ] || exit ${MISSING_EXIT_CODE}; rm -f ${path}`, { signal }, name);
    },
  };
}

/** No shell tool uses this exit code by itself. */
const MISSING_EXIT_CODE = 44;

function toCommandError(
  { exitCode, outcome, stderr }: CommandOutput,
  name?: string,
): ProviderError {
  const facts = { phase: "stream", details: { exitCode, outcome } } as const;
  if (exitCode === MISSING_EXIT_CODE && name !== undefined) {
    return new NotFoundError(formatUnknownName("Artifact", name), facts);
  }
  const how = outcome === "timed-out" ? "took too long" : `failed with exit code ${exitCode}`;
  const errorText = stderr.trim().slice(0, 1000);
  return createProviderError("agent_failed", `An artifact command ${how}: ${errorText}`, facts);
}

function checkArtifactName(name: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}$/.test(name)) return name;
  const message = `${JSON.stringify(name.slice(0, 80))} is not a valid artifact name: expected letters, digits, ".", "_" and "-", without a dot at the start`;
  throw new SpanlineError("invalid_option", message, { details: { path: "name" } });
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function parseArtifact(line: string): Artifact | undefined {
  const [, bytes, name] = /^\s*(\d+) (.+)$/.exec(line) ?? [];
  return bytes === undefined || name === undefined ? undefined : { name, bytes: Number(bytes) };
}

/** A command is limited to 65,536 characters. A multiple of three bytes avoids base64 padding inside the file. */
const CHUNK_BYTES = 36_000;

function* splitBase64(content: Uint8Array): Generator<string> {
  for (let offset = 0; offset < content.length; offset += CHUNK_BYTES) {
    yield Buffer.from(content.subarray(offset, offset + CHUNK_BYTES)).toString("base64");
  }
}
