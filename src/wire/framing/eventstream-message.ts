import { SpanlineError } from "../../domain/errors.ts";
import { parseJson } from "../../data/json.ts";
import { copyString } from "../../text/text-builder.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import type { Frame } from "./eventstream.ts";

/**
 * Interprets a frame by the conventions of AWS services. The header `:message-type` decides first: a frame with message
 * type `exception` is an exception even if the frame also has an event type. A frame without a message type but with an
 * exception type is an exception as well.
 */
export function readStreamMessage(frame: Frame): StreamMessage {
  const kind = readHeader(frame, ":message-type") ?? inferKind(frame);
  switch (kind) {
    case "event":
      return readEvent(frame);
    case "exception": {
      const name =
        readHeader(frame, ":exception-type") ?? readHeader(frame, ":event-type") ?? "exception";
      return { type: "exception", name, payload: readException(frame) };
    }
    case "error": {
      const name = readHeader(frame, ":error-code") ?? "error";
      const message = readHeader(frame, ":error-message") ?? copyText(frame);
      return { type: "exception", name, payload: { message } };
    }
    case undefined:
      return createProtocolError(frame, "has no :message-type header");
    default:
      return {
        type: "malformed",
        name: kind,
        reason: `Frame ${frame.ordinal} has the unknown message type "${kind}"`,
        raw: copyText(frame),
      };
  }
}

function inferKind(frame: Frame): string | undefined {
  if (frame.headers.has(":exception-type")) return "exception";
  if (frame.headers.has(":error-code")) return "error";
  return undefined;
}

function readEvent(frame: Frame): StreamMessage {
  const name = readHeader(frame, ":event-type");
  if (name === undefined)
    return createProtocolError(frame, "is an event without an :event-type header");
  const raw = frame.text();
  if (raw === "") return { type: "event", name, payload: {} };
  const parsed = parseJson(raw);
  if (parsed.ok) return { type: "event", name, payload: parsed.value };
  const reason = `Payload of "${name}" cannot be read: ${parsed.reason}`;
  return { type: "malformed", name, reason, raw: copyString(raw) };
}

/**
 * The body of an exception is often empty or plain text. An unreadable body becomes the message, so the exception is
 * still reported.
 */
function readException(frame: Frame): unknown {
  const raw = frame.text();
  const parsed = parseJson(raw);
  return parsed.ok ? parsed.value : { message: copyString(raw) };
}

function createProtocolError(frame: Frame, problem: string): StreamMessage {
  const { ordinal, offset } = frame;
  const error = new SpanlineError(
    "protocol_error",
    `Frame ${ordinal} at byte ${offset} ${problem}`,
    {
      details: { offset, ordinal },
    },
  );
  return { type: "failure", failure: error.toFailure() };
}

/** Returns a copy of the text. A slice would keep the whole window of the frame alive. */
function copyText(frame: Frame): string {
  return copyString(frame.text());
}

function readHeader(frame: Frame, name: string): string | undefined {
  const value = frame.headers.get(name);
  return value?.type === "string" ? value.value : undefined;
}
