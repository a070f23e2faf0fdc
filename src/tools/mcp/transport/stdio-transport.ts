import { resolve } from "node:path";
import type { Readable } from "node:stream";
import type { RedactSecrets } from "../../../data/secret-redactor.ts";
import { formatThrown, type SpanlineError } from "../../../domain/errors.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import type { Environment } from "../../../platform/environment.ts";
import { isFolder } from "../../../platform/files/is-folder.ts";
import {
  startCompanion,
  type Companion,
  type CompanionExit,
} from "../../../platform/process/companion.ts";
import { hasCommand } from "../../../platform/process/is-program.ts";
import { cleanLine } from "../../../text/clean-text.ts";
import {
  formatStderrTail,
  createServerFailure,
  type ServerProblem,
} from "../connection/server-failure.ts";
import { MCP_LIMITS } from "../mcp-limits.ts";
import type { StdioServerSettings } from "../mcp-server-settings.ts";
import { createEnding, type McpTransport } from "./mcp-transport.ts";
import { createMessageLines } from "./message-lines.ts";
import { createMessagePace } from "./message-pace.ts";

export interface StdioTransportContext {
  readonly clock: SteadyClock;
  readonly environment: Environment;
  readonly workingDirectory?: string;
  /** Removes secrets from the server's output. */
  readonly scrub: RedactSecrets;
  /** Receives each line of standard output which is not a message. */
  readonly onJunkLine: (line: string) => void;
}

/** Starts a server's program. Rejects with a server failure if the program cannot be started. */
export async function openStdio(
  settings: StdioServerSettings,
  context: StdioTransportContext,
): Promise<McpTransport> {
  const companion = await startProgram(settings, context);
  const { name } = settings;
  const stderr = createTail(MCP_LIMITS.stderrBytes);
  const readStderr = (): string => context.scrub(stderr.text());
  companion.errors.on("data", (chunk: Uint8Array) => stderr.add(chunk));
  const end = createEnding();
  const fail = (failure: SpanlineError): void => {
    if (!end.end(failure)) return;
    companion.stop().catch(() => undefined);
    transport.onclose?.();
  };
  const failWith = (problem: ServerProblem, message: string): SpanlineError => {
    const failure = createServerFailure(name, problem, message);
    fail(failure);
    return failure;
  };
  const transport: McpTransport["transport"] = {
    async start() {
      const lines = createMessageLines(MCP_LIMITS.messageBytes, {
        onMessage: (message) => transport.onmessage?.(message),
        onJunk: (line) => context.onJunkLine(context.scrub(line)),
        onTooLong: () =>
          failWith("too-large", `sent a message of more than ${MCP_LIMITS.messageBytes} bytes`),
      });
      readPaced(companion.output, { lines, end, pace: createMessagePace(context.clock) });
    },
    async send(message) {
      if (end.failure !== undefined) throw end.failure;
      if (companion.input.writableLength > MCP_LIMITS.queuedBytes) {
        throw failWith("not-reading", "does not read its input");
      }
      companion.input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      fail(createServerFailure(name, "closed", "was closed"));
    },
  };
  void companion.exit.then((exit) => fail(createExitFailure(name, exit, readStderr())));
  return {
    transport,
    get failure() {
      return end.failure;
    },
    ended: end.ended,
    fail,
    readStderrTail: () => formatStderrTail(readStderr()),
    async close() {
      await transport.close();
      await companion.stop();
    },
  };
}

interface PacedReading {
  readonly lines: ReturnType<typeof createMessageLines>;
  readonly pace: ReturnType<typeof createMessagePace>;
  readonly end: ReturnType<typeof createEnding>;
}

/** Reads the output, paused while messages arrive too fast. After the end the rest is discarded. */
function readPaced(output: Readable, { lines, pace, end }: PacedReading): void {
  output.on("data", (chunk: Uint8Array) => {
    if (end.failure !== undefined) return;
    const pause = pace(lines(chunk));
    if (pause === undefined) return;
    output.pause();
    void pause.then(() => output.resume());
  });
  void end.ended.then(() => output.resume());
}

async function startProgram(
  settings: StdioServerSettings,
  context: StdioTransportContext,
): Promise<Companion> {
  const { name, command, args = [], cwd } = settings;
  const from = resolve(context.workingDirectory ?? ".");
  const folder = cwd === undefined ? from : resolve(from, cwd);
  const environment = createServerEnvironment(settings, context.environment);
  if (!(await isFolder(folder))) {
    throw createServerFailure(
      name,
      "folder-not-found",
      `cannot be started: its working directory ${folder} is not a folder`,
    );
  }
  if (!(await hasCommand(command, folder, environment["PATH"]))) {
    const where = command.includes("/") ? `in ${folder}` : "in PATH";
    const message = `cannot be started: command not found: ${cleanLine(command, 200)} ${where}. Fix: install it, or correct the settings`;
    throw createServerFailure(name, "command-not-found", message, { command });
  }
  try {
    return await startCompanion(command, args, { workingDirectory: folder, environment });
  } catch (error) {
    throw createServerFailure(name, "not-started", `cannot be started: ${formatThrown(error)}`);
  }
}

function createExitFailure(name: string, exit: CompanionExit, stderr: string): SpanlineError {
  const message = `${formatExit(exit)}${formatStderrTail(stderr)}`;
  const facts = { exitCode: exit.code, signal: exit.signal, stderr };
  return createServerFailure(name, "exited", message, facts);
}

/** Shells report a signal as 128 plus its number. */
function formatExit({ code, signal }: CompanionExit): string {
  if (code === null) return `was ended by ${signal}`;
  return code > 128 ? `ended with code ${code} (signal ${code - 128})` : `ended with code ${code}`;
}

/** The last bytes of a stream, as text. */
interface Tail {
  add(chunk: Uint8Array): void;
  text(): string;
}

export function createTail(maxBytes: number): Tail {
  let bytes = Buffer.alloc(0);
  return {
    add(chunk) {
      const joined = Buffer.concat([bytes, chunk.subarray(-maxBytes)]);
      // Copied, since a view would retain the whole chunk.
      bytes = Buffer.from(joined.subarray(-maxBytes));
    },
    text: () => bytes.toString("utf8"),
  };
}

/** Variables needed by most programs, none of which usually contains a secret. */
const SAFE_VARIABLES = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
];

function createServerEnvironment(
  { env = {}, inheritEnv = [] }: StdioServerSettings,
  environment: Environment,
): { readonly [name: string]: string } {
  const inherited = [...SAFE_VARIABLES, ...inheritEnv].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...inherited, ...Object.entries(env)]);
}
