import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { thrownMessage, type SpanlineError } from "../../domain/errors.ts";
import type { Scrub } from "../../domain/scrubber.ts";
import { startCompanion, type Companion, type CompanionEnd } from "../../platform/companion.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { hasCommand } from "../../platform/has-command.ts";
import { cleanLine } from "./clean-text.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { StdioServerSettings } from "./mcp-server-settings.ts";
import { messageLines } from "./message-lines.ts";
import { messagePace } from "./message-pace.ts";
import { ending, type OpenedTransport } from "./opened-transport.ts";
import type { Environment } from "../../platform/environment.ts";
import { serverEnvironment } from "./server-environment.ts";
import { lastWords, serverFailure, type ServerProblem } from "./server-failure.ts";
import { tailOf } from "./tail.ts";

export interface StdioWork {
  readonly clock: SteadyClock;
  readonly environment: Environment;
  readonly workingDirectory?: string;
  /** Takes secrets out of what it says. */
  readonly scrub: Scrub;
  /** A line of its standard output that is no message. */
  readonly junk: (line: string) => void;
}

/** Starts a server's program. Rejects with why it could not be started. */
export async function openStdio(
  settings: StdioServerSettings,
  work: StdioWork,
): Promise<OpenedTransport> {
  const companion = await started(settings, work);
  const { name } = settings;
  const stderr = tailOf(MCP_LIMITS.stderrBytes);
  const written = (): string => work.scrub(stderr.text());
  companion.errors.on("data", (chunk: Uint8Array) => stderr.add(chunk));
  const end = ending();
  const fail = (failure: SpanlineError): void => {
    if (!end.end(failure)) return;
    companion.end().catch(() => undefined);
    transport.onclose?.();
  };
  const broken = (problem: ServerProblem, message: string): SpanlineError => {
    const failure = serverFailure(name, problem, message);
    fail(failure);
    return failure;
  };
  const transport: OpenedTransport["transport"] = {
    async start() {
      const lines = messageLines(MCP_LIMITS.messageBytes, {
        message: (message) => transport.onmessage?.(message),
        junk: (line) => work.junk(work.scrub(line)),
        tooLong: () =>
          broken("too-large", `sent a message of more than ${MCP_LIMITS.messageBytes} bytes`),
      });
      const pace = messagePace(work.clock);
      companion.output.on("data", (chunk: Uint8Array) => {
        if (end.failure !== undefined) return;
        const pause = pace(lines(chunk));
        if (pause === undefined) return;
        companion.output.pause();
        void pause.then(() => companion.output.resume());
      });
      void end.over.then(() => companion.output.resume());
    },
    async send(message) {
      if (end.failure !== undefined) throw end.failure;
      if (companion.input.writableLength > MCP_LIMITS.queuedBytes) {
        throw broken("not-reading", "does not read what it is sent");
      }
      companion.input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      fail(serverFailure(name, "closed", "was closed"));
    },
  };
  void companion.ended.then((how) => {
    const facts = { exitCode: how.code, signal: how.signal, stderr: written() };
    return fail(serverFailure(name, "exited", `${howEnded(how)}${lastWords(written())}`, facts));
  });
  return {
    transport,
    get failure() {
      return end.failure;
    },
    over: end.over,
    fail,
    lastWords: () => lastWords(written()),
    async close() {
      await transport.close();
      await companion.end();
    },
  };
}

async function started(settings: StdioServerSettings, work: StdioWork): Promise<Companion> {
  const { name, command, args = [], cwd } = settings;
  const from = resolve(work.workingDirectory ?? ".");
  const folder = cwd === undefined ? from : resolve(from, cwd);
  const environment = serverEnvironment(settings, work.environment);
  if (!(await isFolder(folder))) {
    throw serverFailure(name, "folder-not-found", `should run in ${folder}, which is no folder`);
  }
  if (!(await hasCommand(command, folder, environment["PATH"]))) {
    const where = command.includes("/") ? `in ${folder}` : "in PATH";
    const message = `cannot be started: there is no command ${cleanLine(command, 200)} ${where}; install it, or correct the settings`;
    throw serverFailure(name, "command-not-found", message, { command });
  }
  try {
    return await startCompanion(command, args, { workingDirectory: folder, environment });
  } catch (error) {
    throw serverFailure(name, "not-started", `cannot be started: ${thrownMessage(error)}`);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}

function howEnded({ code, signal }: CompanionEnd): string {
  if (code === null) return `was ended by ${signal}`;
  return code > 128 ? `ended with code ${code} (signal ${code - 128})` : `ended with code ${code}`;
}
