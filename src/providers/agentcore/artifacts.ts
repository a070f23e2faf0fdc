import { SpanlineError } from "../../domain/errors.ts";
import { NotFoundError, providerError, type ProviderError } from "../../domain/provider-error.ts";
import { randomText } from "../../platform/random.ts";
import type { CommandOptions, ProviderSession } from "../provider.ts";
import { commandOutput, type CommandOutput } from "./command-output.ts";

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

type RunsCommands = Required<Pick<ProviderSession, "runCommand">>;

/** Files of a session, by commands that every POSIX shell has. */
export function sessionArtifacts(
  session: RunsCommands,
  { folder = "artifacts" }: ArtifactsOptions = {},
): Artifacts {
  // What begins with a hyphen is no option.
  const place = quoted(folder.startsWith("/") ? folder : `./${folder}`);
  const file = (name: string): string => `${place}/${quoted(checkedName(name))}`;

  async function run(script: string, options: CommandOptions, name?: string): Promise<string> {
    const output = await commandOutput(await session.runCommand(script, options));
    if (output.exitCode === 0 && output.outcome === "completed") return output.stdout;
    throw commandError(output, name);
  }

  return {
    async list(signal) {
      const script = `cd ${place} 2>/dev/null || exit 0; for f in *; do case "$f" in *[!A-Za-z0-9._-]*) continue;; esac; [ -f "$f" ] && echo "$(wc -c < "$f") $f"; done; exit 0`;
      const lines = (await run(script, { signal })).split("\n");
      return lines.flatMap((line) => readArtifact(line) ?? []);
    },
    async fetch(name, signal) {
      const path = file(name);
      const script = `[ -f ${path} ] || exit ${MISSING}; base64 < ${path}`;
      return Buffer.from(await run(script, { signal }, name), "base64");
    },
    async put(name, content, signal) {
      const path = file(name);
      // A name of its own: the rest of a put that died must not be added to.
      const part = `${place}/.part-${randomText(16)}`;
      try {
        await run(`mkdir -p ${place} && : > ${part}`, { signal });
        for (const text of base64Pieces(content)) {
          await run(`printf %s ${text} | base64 -d >> ${part}`, { signal });
        }
        // Moved onto a folder it would land inside.
        await run(`[ ! -d ${path} ] && mv -f ${part} ${path}`, { signal });
      } catch (error) {
        // Also when it was the caller who ended it.
        const { signal: own } = new AbortController();
        await run(`rm -f ${part}`, { signal: own }).catch(() => undefined);
        throw error;
      }
    },
    async delete(name, signal) {
      const path = file(name);
      await run(`[ -f ${path} ] || exit ${MISSING}; rm -f ${path}`, { signal }, name);
    },
  };
}

/** No tool of a shell exits with it by itself. */
const MISSING = 44;

function commandError({ exitCode, outcome, stderr }: CommandOutput, name?: string): ProviderError {
  const facts = { phase: "stream", details: { exitCode, outcome } } as const;
  if (exitCode === MISSING && name !== undefined) {
    return new NotFoundError(`There is no artifact "${name}"`, facts);
  }
  const how = outcome === "timed-out" ? "took too long" : `ended with ${exitCode}`;
  const said = stderr.trim().slice(0, 1000);
  return providerError("agent_failed", `A command for artifacts ${how}: ${said}`, facts);
}

function checkedName(name: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}$/.test(name)) return name;
  const message = `The artifact name ${JSON.stringify(name.slice(0, 80))} is not allowed; use letters, digits, ".", "_" and "-", no dot first`;
  throw new SpanlineError("invalid_option", message, { details: { path: "name" } });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function readArtifact(line: string): Artifact | undefined {
  const [, bytes, name] = /^\s*(\d+) (.+)$/.exec(line) ?? [];
  return bytes === undefined || name === undefined ? undefined : { name, bytes: Number(bytes) };
}

/** A command may have 65,536 characters. A piece holds a multiple of three bytes, so that no padding is inside. */
const PIECE_BYTES = 36_000;

function* base64Pieces(content: Uint8Array): Generator<string> {
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    yield Buffer.from(content.subarray(at, at + PIECE_BYTES)).toString("base64");
  }
}
