import { access, constants, open, type FileHandle } from "node:fs/promises";
import { SpanlineError } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import { makeFolder } from "../../platform/files/private-files.ts";
import type { EmulatorResponse } from "../service/service-types.ts";
import type { RecordedEnd, Recording } from "./recording.ts";

export interface RecordingTarget {
  readonly path: string;
  readonly clock: Clock;
  /** Aborts when the client has disconnected. */
  readonly disconnectSignal: AbortSignal;
  /** Called if the file cannot be written. The response continues without a recording. */
  readonly onFailure: (error: unknown) => void;
}

/** Passes a response on and records it in a file, one line per chunk. The file is readable only by the user. */
export function recordResponse(
  { status, headers, body }: EmulatorResponse,
  target: RecordingTarget,
): EmulatorResponse {
  return { status, headers, body: recordBody(toChunks(body), { status, headers }, target) };
}

async function* recordBody(
  body: AsyncIterable<Uint8Array>,
  head: Pick<Recording, "status" | "headers">,
  target: RecordingTarget,
): AsyncGenerator<Uint8Array> {
  const { clock, disconnectSignal } = target;
  const start = clock.now();
  const file = createRecordingFile(target);
  let end: RecordedEnd = "left";
  try {
    await file.write({ recording: 1, ...head });
    for await (const bytes of body) {
      await file.write({ at: clock.now() - start, bytes: Buffer.from(bytes).toString("base64") });
      yield bytes;
    }
    if (!disconnectSignal.aborted) end = "whole";
  } catch (error) {
    end = "reset";
    throw error;
  } finally {
    await file.write({ at: clock.now() - start, end });
    await file.close();
  }
}

interface RecordingFile {
  /** Never throws. */
  write(line: object): Promise<void>;
  close(): Promise<void>;
}

/** Creates the file with the first line. After a failed write no further lines are written. */
function createRecordingFile({ path, onFailure }: RecordingTarget): RecordingFile {
  let file: FileHandle | undefined;
  let isBroken = false;
  const attempt = async (act: () => Promise<unknown>): Promise<void> => {
    if (isBroken) return;
    try {
      await act();
    } catch (error) {
      isBroken = true;
      onFailure(error);
    }
  };
  return {
    write: (line) =>
      attempt(async () => {
        file ??= await open(path, "wx", 0o600);
        await file.write(`${JSON.stringify(line)}\n`);
      }),
    async close() {
      await file?.close().catch(() => {});
    },
  };
}

/**
 * Throws if the folder cannot be created or is not writable, so the problem is reported at the start instead of by the
 * first response.
 */
export async function prepareRecordings(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot write recordings to ${folder}: ${reason}. Fix: use a writable folder`;
    throw new SpanlineError("invalid_option", message, { cause, details: { path: "recordings" } });
  }
}

async function* toChunks(body: EmulatorResponse["body"]): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else yield* body;
}
