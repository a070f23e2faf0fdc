import type { Readable, Writable } from "node:stream";
import type { Principal } from "../../../domain/actor.ts";
import { systemClock, type Clock } from "../../../platform/clock.ts";
import { readPackageVersion } from "../../../platform/package-version.ts";
import { randomString } from "../../../platform/random.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { UpdatesSetting } from "../../../wire/acp/decode/client-profile.ts";
import { createJsonLinesDecoder, type JsonLinesItem } from "../../../wire/framing/json-lines.ts";
import { MAX_LINE_BYTES } from "../../../wire/jsonrpc/rpc-connection.ts";
import { createAcpConnection, type AcpConnection } from "./acp-connection.ts";
import type { AcpLog } from "./client-link.ts";
import { disconnectGracefully } from "./graceful-disconnect.ts";
import { createLineWriter } from "./line-writer.ts";

export interface ServeAcpOptions {
  readonly sessions: Sessions;
  readonly input: Readable;
  /** Reserved for the protocol. The caller closes both streams; `serveAcp` closes neither. */
  readonly output: Writable;
  /** The identity of the client. */
  readonly principal: Principal;
  /** The session `session/new` returns in place of a new session: "latest" or an id. Default: a new session. */
  readonly session?: string;
  /** Which updates the client receives. Default: `auto`. */
  readonly updates?: UpdatesSetting | Promise<UpdatesSetting>;
  readonly log: AcpLog;
  /** Log for harmless irregularities. Default: not logged. */
  readonly detail?: AcpLog;
  /** Ends the connection in the same way as the end of the input. */
  readonly signal?: AbortSignal;
  /**
   * Unique among all connections; part of the client id and of the JSON-RPC ids sent to the client. Default: random.
   */
  readonly connectionId?: string;
  readonly clock?: Clock;
}

/**
 * Serves one ACP client until its input ends, its output closes or the signal aborts. The client is then detached: its
 * turns continue, and its permission requests stay open for other clients.
 */
export async function serveAcp(options: ServeAcpOptions): Promise<void> {
  const { input, output, log, clock = systemClock, connectionId = randomString(16) } = options;
  const writer = createLineWriter(output);
  const version = readPackageVersion();
  const connection = createAcpConnection({
    ...options,
    // The client is the process that started this program.
    isLocalUser: true,
    isSameMachine: true,
    // The connection lives as long as this process, so the client never reconnects.
    hasCursors: false,
    connectionId,
    version,
    clock,
    writer,
  });
  const ends =
    options.signal === undefined
      ? [writer.disconnectSignal]
      : [writer.disconnectSignal, options.signal];
  try {
    await readInput(input, connection, AbortSignal.any(ends));
  } catch (error) {
    log("the input failed", { error: String(error) });
  }
  await disconnectGracefully(connection, writer, clock);
}

async function readInput(
  input: Readable,
  connection: AcpConnection,
  signal: AbortSignal,
): Promise<void> {
  const decoder = createJsonLinesDecoder({ maxLineBytes: MAX_LINE_BYTES });
  const state = decoder.initial();
  const receive = (item: JsonLinesItem): void => connection.receive(item);
  for await (const chunk of readChunksUntil(input, signal)) {
    decoder.step(state, chunk, receive);
    await connection.waitForCapacity();
  }
  decoder.finish(state, receive);
}

/**
 * Yields the chunks of an input until the input ends or the signal aborts, also while no chunk arrives.
 *
 * Plain iteration would destroy the input at its end, but the input may be a socket with responses still to send. Each
 * wait has its own promise: racing against one long-lived promise would keep every chunk alive behind it.
 */
async function* readChunksUntil(
  input: Readable,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator: AsyncIterator<Uint8Array> = input.iterator({ destroyOnReturn: false });
  let interrupt = (): void => {};
  const stop = (): void => interrupt();
  signal.addEventListener("abort", stop);
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
        interrupt = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    // An iterator waiting for its source returns later or never, so the result is not awaited.
    iterator.return?.().catch(() => {});
  }
}
