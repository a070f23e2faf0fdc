import { DelegationError } from "../../delegation/delegation-error.ts";
import { createHttpPeer } from "../../delegation/http-peer.ts";
import type { Peer } from "../../delegation/delegate.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { createHttpClient } from "../../platform/http-client.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import { formatErrorMessage } from "../shared/error-message.ts";
import { INTERRUPTED, watchInterruption } from "../shared/interruption.ts";

export interface PeerFlags {
  readonly keyEnv?: string;
  readonly json?: true;
}

export interface PeerContext {
  readonly io: CommandIo;
  readonly terminal: Terminal;
  readonly connect: (url: string) => Peer;
  readonly signal: AbortSignal;
}

/** Connects to an agent, and turns errors of a command into messages and an exit code. */
export async function withPeer(
  flags: PeerFlags,
  io: CommandIo,
  command: (context: PeerContext) => Promise<number>,
): Promise<number> {
  const terminal = createTerminal(io);
  const http = createHttpClient();
  const interruption = watchInterruption(io, () => terminal.note("Stopping …\n"));
  const { signal } = interruption;
  try {
    const key = readKey(flags, io);
    const connect = (url: string): Peer =>
      createHttpPeer({
        send: http.send,
        url,
        timeout: (milliseconds) => AbortSignal.timeout(milliseconds),
        ...(key !== undefined && { key }),
      });
    return await command({ io, terminal, connect, signal });
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    const isUsage = error instanceof DelegationError && error.kind === "invalid_request";
    terminal.note(
      `${formatErrorMessage(error, { nextStep: () => undefined, findFlag: () => undefined })}\n`,
    );
    return isUsage || error instanceof SpanlineError ? 2 : 1;
  } finally {
    interruption.release();
    http.close();
  }
}

/** A key on the command line would be visible to all users of the machine. */
function readKey({ keyEnv }: PeerFlags, { env }: CommandIo): string | undefined {
  if (keyEnv === undefined) return undefined;
  const key = env[keyEnv];
  if (key !== undefined && key !== "") return key;
  const message = `--key-env names the variable ${keyEnv}, which is not set. Fix: export ${keyEnv}=…`;
  throw new SpanlineError("invalid_option", message);
}

/** Throws `invalid_option` unless the address is an HTTP URL. */
export function checkUrl(url: string): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return;
  const message = `"${url}" is not the address of an agent: expected a URL such as https://agents.example`;
  throw new SpanlineError("invalid_option", message);
}
