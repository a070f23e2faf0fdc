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
import { readChunksUntil } from "./read-chunks.ts";
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
