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
  /** The protocol's alone. Neither stream is closed at the end: their owner does that. */
  readonly output: Writable;
  /** Who the client is. */
  readonly principal: Principal;
  /** What `session/new` gives instead of a new session: "latest", or the session with this id. */
  readonly session?: string;
  /** What the client is sent. Default: `auto`. */
  readonly updates?: UpdatesSetting | Promise<UpdatesSetting>;
  readonly log: AcpLog;
  /** Notes about what is nobody's fault, for whoever looks for one. */
  readonly detail?: AcpLog;
  /** Ends the connection, as the end of the input does. */
  readonly signal?: AbortSignal;
  /** Names this connection among all others, in the client's id and in the ids of what it is asked. */
  readonly connectionId?: string;
  readonly clock?: Clock;
}

/**
 * Serves one ACP client until its input ends, its output is gone, or the signal. The client is then detached: its turns
 * go on, and what it was asked stays open.
 */
export async function serveAcp(options: ServeAcpOptions): Promise<void> {
  const { input, output, log, clock = systemClock, connectionId = randomString(16) } = options;
  const writer = createLineWriter(output);
  const version = readPackageVersion();
  const connection = createAcpConnection({
    ...options,
    // Whoever starts this program.
    isLocalUser: true,
    isSameMachine: true,
    // The connection is as old as this process: there is none to go on from.
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
    log("the input broke off", { error: String(error) });
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
 * The chunks of an input until it ends or the signal aborts, whichever is first; also when no chunk comes.
 *
 * The input is not destroyed at its end, as iterating over it would: it may be a socket that still has answers to send.
 * Each wait has a promise of its own: a race against one lasting promise would keep every chunk alive behind it.
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
    // An iterator that waits for its source gives in later, or never; nobody waits for that.
    iterator.return?.().catch(() => {});
  }
}
