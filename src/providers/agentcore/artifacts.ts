import { SpanlineError } from "../../domain/errors.ts";
import {
  NotFoundError,
  createProviderError,
  type ProviderError,
} from "../../domain/provider/provider-error.ts";
import { randomString } from "../../platform/random.ts";
import type { CommandOptions, ProviderSession } from "../provider.ts";
import { collectCommandOutput, type CommandOutput } from "./command-output.ts";

export interface Artifact {
  readonly name: string;
  readonly bytes: number;
}

/** Files on the agent's machine, by name. They live as long as the session does. */
export interface Artifacts {
  list(signal: AbortSignal): Promise<Artifact[]>;
  fetch(name: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Puts a file in its place in one step: nobody sees half of it, and a put that dies leaves the old one. */
  put(name: string, content: Uint8Array, signal: AbortSignal): Promise<void>;
  delete(name: string, signal: AbortSignal): Promise<void>;
}

export interface ArtifactsOptions {
  /** Where the files are; below the session's working folder unless the path is absolute. */
  readonly folder?: string;
}

type CommandRunner = Required<Pick<ProviderSession, "runCommand">>;

/** Files of a session, by commands that every POSIX shell has. */
export function openSessionArtifacts(
  session: CommandRunner,
  { folder = "artifacts" }: ArtifactsOptions = {},
): Artifacts {
  // What begins with a hyphen is no option.
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
      // A name of its own: the rest of a put that died must not be added to.
      const part = `${folderPath}/.part-${randomString(16)}`;
      try {
        await run(`mkdir -p ${folderPath} && : > ${part}`, { signal });
        for (const text of splitBase64(content)) {
          await run(`printf %s ${text} | base64 -d >> ${part}`, { signal });
        }
        // Moved onto a folder it would land inside.
        await run(`[ ! -d ${path} ] && mv -f ${part} ${path}`, { signal });
      } catch (error) {
        // Also when it was the caller who ended it.
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

/** No tool of a shell exits with it by itself. */
const MISSING_EXIT_CODE = 44;

function toCommandError(
  { exitCode, outcome, stderr }: CommandOutput,
  name?: string,
): ProviderError {
  const facts = { phase: "stream", details: { exitCode, outcome } } as const;
  if (exitCode === MISSING_EXIT_CODE && name !== undefined) {
    return new NotFoundError(`There is no artifact "${name}"`, facts);
  }
  const how = outcome === "timed-out" ? "took too long" : `ended with ${exitCode}`;
  const errorText = stderr.trim().slice(0, 1000);
  return createProviderError("agent_failed", `A command for artifacts ${how}: ${errorText}`, facts);
}

function checkArtifactName(name: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}$/.test(name)) return name;
  const message = `The artifact name ${JSON.stringify(name.slice(0, 80))} is not allowed; use letters, digits, ".", "_" and "-", no dot first`;
  throw new SpanlineError("invalid_option", message, { details: { path: "name" } });
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function parseArtifact(line: string): Artifact | undefined {
  const [, bytes, name] = /^\s*(\d+) (.+)$/.exec(line) ?? [];
  return bytes === undefined || name === undefined ? undefined : { name, bytes: Number(bytes) };
}

/** A command may have 65,536 characters. A piece holds a multiple of three bytes, so that no padding is inside. */
const CHUNK_BYTES = 36_000;

function* splitBase64(content: Uint8Array): Generator<string> {
  for (let offset = 0; offset < content.length; offset += CHUNK_BYTES) {
    yield Buffer.from(content.subarray(offset, offset + CHUNK_BYTES)).toString("base64");
  }
}
