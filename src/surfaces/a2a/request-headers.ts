import type { ServedRequest } from "../../http/server/http-types.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import { A2aError, createParamsError } from "../../wire/a2a/a2a-error.ts";
import type { Dialect } from "../../wire/a2a/dialect.ts";
import { withTaskStream } from "../../wire/a2a/encode-task-stream.ts";
import { readExtensions, TASK_STREAM_EXTENSION } from "../../wire/a2a/extensions.ts";
import { formatValue } from "../../text/format-value.ts";

/** Throws `VERSION_NOT_SUPPORTED` for an unknown version. A client may leave the version out. */
export function checkVersion(request: ServedRequest): void {
  const version = readHeader(request, "a2a-version") ?? "";
  if (version === "" || /^(?:1\.0|0\.3)(?:\.\d+)?$/.test(version)) return;
  const message = `A2A-Version is ${formatValue(version)}: expected 1.0 or 0.3`;
  throw new A2aError("VERSION_NOT_SUPPORTED", message);
}

/** Adds the entries of the bridge protocol for a client with their extension. */
export function resolveDialect(request: ServedRequest, dialect: Dialect): Dialect {
  const header = readHeader(request, "a2a-extensions") ?? readHeader(request, "x-a2a-extensions");
  return readExtensions(header).has(TASK_STREAM_EXTENSION) ? withTaskStream(dialect) : dialect;
}

/** Reads the cursor of a reconnecting reader. Undefined if the header is absent. */
export function readLastSequence(request: ServedRequest): { readonly lastSequence?: number } {
  const text = readHeader(request, "last-event-id");
  if (text === undefined || text === "") return {};
  const sequence = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(sequence)) return { lastSequence: sequence };
  throw createParamsError(
    `Last-Event-ID is ${formatValue(text)}: expected the id of an event of this stream`,
  );
}
